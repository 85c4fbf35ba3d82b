// The types of events as webhooks need them: a seam, so that subscriptions and deliveries know nothing of definitions.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import type { EventHistory } from '../log/event-history.js';
import type { StoredEvent } from '../log/stored-event.js';

/** A type of events that is delivered to webhooks. */
export interface WebhookType {
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly payloadSchema: JsonObject;
  /** The digest of both schemas. */
  readonly digest: string;
  readonly history: EventHistory;
  /** Reads the arguments of a subscription, which were checked when it was made. Rejects if they are wrong by now. */
  readonly read: (args: JsonObject) => unknown;
  /** Whether a caller may still have the events for these arguments. */
  readonly admits: (auth: Auth, input: unknown) => boolean | Promise<boolean>;
  /** Whether an event is for these arguments and this caller. */
  readonly matches: (event: StoredEvent, input: unknown, auth: Auth) => boolean | Promise<boolean>;
}

/** The types of a server. */
export interface WebhookTypes {
  /** The type with a name; undefined if there is none, or it is not delivered to webhooks. */
  readonly find: (name: string) => Promise<WebhookType | undefined>;
  /** The names of all types that are delivered to webhooks. */
  readonly names: () => readonly string[];
}
