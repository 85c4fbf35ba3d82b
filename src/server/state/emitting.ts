// How events are emitted: the options and the result, without the types of a server.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { TransactionClient } from '../../state/transaction.js';
import type { Recipient } from './changes.js';

/** The options of `emit`. */
export interface EmitOptions {
  /**
   * The id that the source gave the event. An event with an id that was emitted before is not told again, so `emit` can be repeated. An
   * id with a dot, a space or characters beyond ASCII, or of more than 128 characters, is replaced by a digest of it. Default: a new id.
   */
  readonly eventId?: string;
  /** The time of the event: a date, or a string in ISO 8601 with a zone. Default: now. */
  readonly timestamp?: Date | string;
  /** The `_meta` of the event. Default: none. */
  readonly meta?: JsonObject;
  /**
   * A connection of `pg` on which a transaction is open, to the database in which the server keeps its state (`fullmcp/postgres`). The event
   * is told when that transaction is committed, and never if it is rolled back. Default: none; in a step that uses its `transaction`, that one.
   */
  readonly transaction?: TransactionClient;
}

/** An event that is to be kept. */
export interface NewEvent {
  /** The id: printable ASCII, at most `MAX_ID` characters. */
  readonly eventId: string;
  /** The time of the event, in ISO 8601. */
  readonly timestamp: string;
  readonly data: JsonObject;
  readonly _meta?: JsonObject | undefined;
  /** The only callers that may get the event. Subscribers do not see them. Undefined if there are no such limits. */
  readonly to?: readonly Recipient[] | undefined;
}

/** Keeps an event of a type in another server. With a transaction, as a part of it. */
export type RelayEvent = (
  name: string,
  event: NewEvent,
  transaction: TransactionClient | undefined,
) => Promise<unknown>;

/** An emitted event. */
export interface Emitted {
  /** The id of the event, as subscribers get it. */
  readonly eventId: string;
  /** Whether the event is new: false if one with this id was emitted before. In a transaction: if one was told before. */
  readonly isNew: boolean;
}

/** Emits an event. Resolves when the store has the event. If it rejects, repeat it with the same `eventId`. */
export type EmitAny = (name: string, data: object, options?: EmitOptions) => Promise<Emitted>;
