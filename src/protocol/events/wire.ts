// The names, shapes and numbers of events on the wire. Both dialects have them.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { DeliveryMode } from './offer.js';

/** The notifications of events. All but `listChanged` belong to a request of `events/stream`. */
export const eventNotifications = {
  active: 'notifications/events/active',
  event: 'notifications/events/event',
  heartbeat: 'notifications/events/heartbeat',
  error: 'notifications/events/error',
  terminated: 'notifications/events/terminated',
  listChanged: 'notifications/events/list_changed',
} as const;

/** A type of events, as `events/list` has it. */
export interface EventDescriptor {
  /** The name of the type. */
  readonly name: string;
  /** The description, for models and people. */
  readonly description?: string;
  /** The ways in which events of this type are delivered. */
  readonly delivery: readonly DeliveryMode[];
  /** The arguments that a subscriber filters by, as JSON Schema of an object. */
  readonly inputSchema: JsonObject;
  /** The data of an event, as JSON Schema of an object. Servers of the official client scenarios leave it out. */
  readonly payloadSchema?: JsonObject;
  /** More about the type. */
  readonly _meta?: JsonObject;
}

/** An event, as polls, streams and webhooks carry it. */
export interface Occurrence {
  /** The id that the source gave the event: the same on every way, and in every repetition. */
  readonly eventId: string;
  /** The name of the type. */
  readonly name: string;
  /** The time of the event, in ISO 8601 with a zone. */
  readonly timestamp: string;
  /** The data of the event, an object. */
  readonly data: JsonObject;
  /** The position after the event, for a later request; null if the type has no replay. */
  readonly cursor?: string | null;
  /** More about the event. */
  readonly _meta?: JsonObject;
}

/** A message to a webhook that is not an event. A body without `type` is an event. */
export type WebhookEnvelope =
  | {
      /** The receiver must reply with the challenge. */
      readonly type: 'verification';
      readonly challenge: string;
    }
  | {
      /** Events may be missing. The next ones follow the cursor. */
      readonly type: 'gap';
      readonly cursor: string;
    }
  | {
      /** The subscription has ended. */
      readonly type: 'terminated';
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/** The headers of a request to a webhook. */
export const webhookHeaders = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
  subscription: 'x-mcp-subscription-id',
} as const;

/** The reasons for which the endpoint of a webhook is not usable. They tell nothing of its replies. */
export type CallbackReason =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed';

/** The page on which an origin names the paths that accept webhooks. */
export const RECEIVERS_PATH = '/.well-known/mcp-webhook-receiver.json';

/** The largest body of a webhook, in bytes. */
export const MAX_WEBHOOK_BYTES = 262_144;

/** The prefix of a secret, and the number of bytes that it has. */
export const SECRET_PREFIX = 'whsec_';
export const SECRET_BYTES = { min: 24, max: 64 } as const;

/** The longest difference between the clocks of a sender and of a receiver. */
export const MAX_CLOCK_SKEW_MS = 300_000;

/** The least time between two polls of a client. */
export const MIN_POLL_MS = 1000;
