// The options of webhooks, and what an operator sees of them.

/**
 * The options of webhooks. A server that has them sends events to the addresses that its callers name: over https, to public addresses, and
 * only to receivers that want them.
 */
export interface WebhookOptions {
  /**
   * The origins that get webhooks without being asked, such as `https://hooks.example.com`. Default: none, so that every receiver has to
   * show that it wants them.
   */
  readonly allow?: readonly string[];
  /**
   * Receivers on a private network or on this computer. **Dangerous by choice**: every caller that may subscribe can then make this process
   * send requests to them. Each entry is one exact host name, for https on any port, or one exact origin, such as
   * `http://127.0.0.1:8080`. Default: none.
   */
  readonly privateHosts?: readonly string[];
  /** The subscriptions that a caller may have. Default: 100. */
  readonly maxPerCaller?: number;
  /** The subscriptions that one host may receive. Default: 10,000. */
  readonly maxPerHost?: number;
  /** The subscriptions that the server may have. Default: 100,000. */
  readonly maxSubscriptions?: number;
}

/** The table of the options. */
export const webhookTable = {
  allow: { is: 'strings', default: [] },
  privateHosts: { is: 'strings', default: [] },
  maxPerCaller: { is: 'count', default: 100 },
  maxPerHost: { is: 'count', default: 10_000 },
  maxSubscriptions: { is: 'count', default: 100_000 },
} as const;

/** A subscription of a webhook, with the events that could not be delivered. */
export interface WebhookDeliveries {
  /** The id of the subscription, as its receiver knows it. */
  readonly subscription: string;
  /** The type of the events. */
  readonly name: string;
  /** The receiver, without the query of its address. */
  readonly url: string;
  /** The name of the caller that subscribed. */
  readonly subject: string;
  /** Whether events are sent, or the receiver has failed too often, or the subscription is over. */
  readonly status: 'active' | 'suspended' | 'ending';
  /** The time of the last delivery that succeeded. */
  readonly lastDeliveryAt: string | undefined;
  /** The reason of the last failure, if no delivery has succeeded since. */
  readonly lastError: string | undefined;
  /** The events that failed and are sent again soon. */
  readonly retrying: readonly {
    /** The id of the event. */
    readonly eventId: string;
    /** The number of attempts so far. */
    readonly attempts: number;
    /** When it is sent again. */
    readonly nextAttemptAt: string;
  }[];
  /** The events that were given up, the oldest first. */
  readonly dead: readonly DeadEvent[];
}

/** An event that was given up. It is kept for a week, and can be sent again. */
export interface DeadEvent {
  /** The id of the event. */
  readonly eventId: string;
  /** The reason of the last failure. */
  readonly reason: string;
  /** The number of attempts. */
  readonly attempts: number;
  /** When it was given up. */
  readonly at: string;
}

/** The webhooks of a server, for its operator. */
export interface WebhookDesk {
  /** The subscriptions, with the events that could not be delivered. */
  readonly deliveries: () => AsyncIterable<WebhookDeliveries>;
  /**
   * Sends events that were given up again: one, or all of a subscription. Returns their number. If deliveries are suspended, they are
   * sent when the client refreshes the subscription.
   */
  readonly redeliver: (subscription: string, eventId?: string) => Promise<number>;
}
