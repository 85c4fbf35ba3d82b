import type { RequestId } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';

/**
 * A connection that carries messages as texts, in both directions: the pipes of a process, a WebSocket, HTTP+SSE. It knows
 * nothing of what the texts say.
 */
export interface Wire {
  /** Sends one message. What cannot be sent any more is dropped: `closed` says so. */
  readonly send: (text: string) => void;
  /** Begins to hand over what arrives; what came before is handed over first. Called once. */
  readonly start: (events: WireEvents) => void;
  /** What a process wrote to standard error last, for errors that the wire itself does not know of. */
  readonly lastWords?: () => readonly string[];
  /** Ends it, politely first. Resolves when nothing of it is left: no process, no socket, no timer. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface WireEvents {
  /** One message. It may be anything: a text that is no JSON is the reader's to skip and report. */
  readonly message: (text: string) => void;
  /** A message that was too long to be read. `answers` is the id of the request that it answers, where that could be seen. */
  readonly tooLong: (reason: string, answers: RequestId | undefined) => void;
  /** Something odd that was put up with: a line that is not a message. */
  readonly problem: (message: string, cause?: unknown) => void;
  /** It has ended without `close`. Called once at most; nothing comes after it. The reason is for people to read. */
  readonly closed: (reason: McpError) => void;
}
