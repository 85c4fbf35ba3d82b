// How events are emitted: the options and the result, without the types of a server.

import type { JsonObject } from '../../jsonrpc/message.js';

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
}

/** An emitted event. */
export interface Emitted {
  /** The id of the event, as subscribers get it. */
  readonly eventId: string;
  /** Whether the event is new: false if one with this id was emitted before. */
  readonly isNew: boolean;
}

/** Emits an event. Resolves when the store has the event. If it rejects, repeat it with the same `eventId`. */
export type EmitAny = (name: string, data: object, options?: EmitOptions) => Promise<Emitted>;
