// The events of a server, as the page sees them.

import type { WebhookDeliveries } from '../../index.js';

/** Something that a server has told: on a stream, or in answer to a poll. */
export interface ToldEvent {
  /** Unique in this process, growing. */
  readonly seq: number;
  readonly connection: string;
  readonly at: number;
  readonly via: 'push' | 'poll';
  /** The name of the type. */
  readonly name: string;
  readonly eventId: string;
  readonly timestamp: string;
  /** The data as JSON, cut at 4000 characters. */
  readonly data: string;
  readonly isCut: boolean;
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
