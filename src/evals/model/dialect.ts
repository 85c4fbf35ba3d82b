// The API of a model: a pure writer of requests and a pure reader of replies.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { ModelReply, ModelRequest } from './model.js';

/** The parts of a request that belong to the model, and not to the conversation. */
interface ModelSettings {
  readonly model: string;
  /** The most tokens of one reply. */
  readonly maxTokens: number;
  /** More fields of the body, such as `thinking`. */
  readonly fields: Readonly<JsonObject>;
  /** Whether the address is the one of the vendor, who has renamed fields that others still have. */
  readonly isVendor: boolean;
}

export interface ModelDialect {
  /** The address of the vendor. */
  readonly url: string;
  readonly path: string;
  /** The environment variable that has the key for the address of the vendor. */
  readonly keyName: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly body: (request: ModelRequest, settings: ModelSettings) => JsonObject;
  /** Makes the reply of a stream, event by event. */
  readonly assemble: () => ReplyAssembler;
  /** The words in an event of a stream, for people who watch it; empty for other events. */
  readonly words: (data: JsonObject) => string;
  /** Reads a whole reply. Throws a `ModelError` for something else. */
  readonly read: (reply: JsonObject) => ModelReply;
}

/** Makes a whole reply of the events of a stream. */
export interface ReplyAssembler {
  /** Takes the data of an event. Throws a `ModelError` if the event reports a failure. */
  readonly add: (data: JsonObject) => void;
  /** The whole reply; undefined while events are missing. */
  readonly whole: () => JsonObject | undefined;
}
