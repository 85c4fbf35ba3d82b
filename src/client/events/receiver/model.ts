import type { JsonObject } from '../../../jsonrpc/message.js';
import type { McpError } from '../../../protocol/errors.js';
import type { Client } from '../../model/client.js';
import type { AnyEvent, EventArguments, EventNames, EventStore, EventsOf } from '../../model/events.js';

// Receivers of webhooks: the types that a program uses.

/** The options of `receiver`. `S` is the type of the server whose events it receives. */
export interface ReceiverOptions<S = unknown> {
  /**
   * Called with each event. The sender gets its confirmation when the promise resolves; if it rejects, or takes longer than 8 s, the
   * sender repeats the event. An event that was confirmed is not passed on again.
   */
  readonly onEvent: (event: AnyEvent<S>, source: WebhookSource) => void | Promise<void>;
  /** Called when events may be missing: the server no longer had them. The next ones follow `cursor`. */
  readonly onGap?: (cursor: string | null, source: WebhookSource) => void | Promise<void>;
  /** Called when the server has ended a subscription for good. */
  readonly onTerminated?: (error: McpError, source: WebhookSource) => void | Promise<void>;
  /** Called with what went wrong without failing a call: a handler that threw, a subscription that could not be refreshed. Default: `console.error`. */
  readonly onProblem?: (problem: {
    /** The problem in one sentence, without secrets. */
    readonly message: string;
    /** The error that caused the problem. */
    readonly cause?: unknown;
  }) => void;
  /**
   * The secret that webhooks are signed with, or several while it is being replaced, the newest first: `whsec_` and the base64 of 24 to
   * 64 random bytes. With it, the receiver also accepts webhooks of subscriptions that others have made. Default: each subscription
   * has a secret of its own.
   */
  readonly secret?: string | readonly string[];
  /**
   * Keeps the subscriptions with their secrets and positions, and the ids of the events that were confirmed: a later run, or another
   * process, continues with them. Default: memory.
   */
  readonly store?: EventStore;
}

/** The subscription that an event came from. */
export interface WebhookSource {
  /** The id that the server gave the subscription. */
  readonly id: string;
  /** The subscription, if this receiver has made it. */
  readonly subscription:
    | {
        /** The address of the server. */
        readonly server: string;
        /** The name of the type. */
        readonly name: string;
        /** The arguments. */
        readonly args: JsonObject;
      }
    | undefined;
}

/** The options of a webhook subscription. */
export interface SubscribeWebhookOptions {
  /** The address of this receiver, as the server reaches it. The receiver adds a parameter to its query, which tells its subscriptions apart. */
  readonly url: string | URL;
  /** The time for which the server is asked to keep the subscription without a refresh, in milliseconds; null: forever. Default: the server's. */
  readonly ttlMs?: number | null;
}

/** A subscription whose events are sent to a receiver. It is refreshed until it is closed. */
export interface WebhookSubscription extends AsyncDisposable {
  /** The id that the server gave the subscription. */
  readonly id: string;
  /** The time until which the server keeps the subscription if it is not refreshed; null if it does not expire. */
  readonly refreshBefore: Date | null;
  /** Resolves when the subscription is no longer refreshed: with undefined if the program ended it, otherwise with the error that did. */
  readonly ended: Promise<McpError | undefined>;
  /** Gives the subscription a new secret. Webhooks that the previous one has signed are accepted for another day. */
  readonly rotate: () => Promise<void>;
  /** Ends the subscription at the server. */
  readonly unsubscribe: () => Promise<void>;
  /** Stops refreshing. The server keeps the subscription until it expires, and a later run continues it. */
  readonly close: () => Promise<void>;
}

/** The members of a client that a receiver subscribes with. */
export type SubscribingClient = Pick<Client, 'request' | 'server' | 'info' | 'events'>;

/** Subscribes to a type of events; again for a subscription of an earlier run, which it continues. */
export type SubscribeWebhook<S> = <Name extends EventNames<EventsOf<S>>>(
  client: SubscribingClient,
  name: Name,
  args: EventArguments<EventsOf<S>, Name>,
  options: SubscribeWebhookOptions,
) => Promise<WebhookSubscription>;
