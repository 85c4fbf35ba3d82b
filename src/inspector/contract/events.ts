// The events of a server, as the page sees them.

import type { WebhookDeliveries } from '../../index.js';

/** Something that a server has told: on a stream, in answer to a poll, or in a request to the receiver of the inspector. */
export interface ToldEvent {
  /** Unique in this process, growing. */
  readonly seq: number;
  readonly connection: string;
  readonly at: number;
  readonly via: 'push' | 'poll' | 'webhook';
  /** The name of the type. */
  readonly name: string;
  readonly eventId: string;
  readonly timestamp: string;
  /** The data as JSON, cut at 4000 characters. */
  readonly data: string;
  readonly isCut: boolean;
  /** The request, if it is a webhook. */
  readonly request?: WebhookRequestView;
}

/** The replies of the receiver: 204, 500, 410, or 204 after the server has given up. */
export const webhookReplies = ['accept', 'fail', 'gone', 'slow'] as const;
export type WebhookReplyKind = (typeof webhookReplies)[number];

/** A request to the receiver of the inspector. */
export interface WebhookRequestView {
  readonly kind: 'event' | 'verification' | 'gap' | 'terminated';
  /** The header `webhook-id`. */
  readonly id: string;
  /** The number of requests with this id so far. */
  readonly attempt: number;
  /** Whether the signature belongs to the secret, and is not older than five minutes. */
  readonly isSigned: boolean;
  readonly reply: WebhookReplyKind;
  readonly headers: Readonly<Record<string, string>>;
}

/** A type of events whose webhooks the inspector receives. */
export interface ReceivingView {
  /** The name of the type. */
  readonly name: string;
  readonly url: string;
  /** The id of the subscription; undefined until the server has accepted it. */
  readonly subscription?: string;
  readonly reply: WebhookReplyKind;
  readonly count: number;
}

/** A type of events that is followed. */
export interface FollowView {
  /** The name of the type. */
  readonly name: string;
  readonly since: number;
  /** How the events come; undefined until the server has accepted the subscription. */
  readonly via?: ToldEvent['via'];
  readonly count: number;
  /** Whether the server no longer had all events. */
  readonly hasGap: boolean;
  readonly story: number;
}

/** The deliveries of webhooks, for the author of the server. */
export interface DeliveriesView {
  /** Whether the server lets this inspector emit events and see deliveries: it runs its file, or is in the same program. */
  readonly isOperated: boolean;
  readonly hasWebhooks: boolean;
  /** The first 200. */
  readonly subscriptions: readonly WebhookDeliveries[];
  readonly isCut: boolean;
}
