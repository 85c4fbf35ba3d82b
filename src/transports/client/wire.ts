import type { RequestId } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';

/**
 * A connection that carries messages as strings, in both directions: the pipes of a process, a WebSocket, HTTP+SSE. It does
 * not read them.
 */
export interface Wire {
  /** Sends one message. After the end, messages are dropped: `closed` reports the end. */
  readonly send: (text: string) => void;
  /** Begins to deliver messages; those that arrived before are delivered first. Called once. */
  readonly start: (events: WireEvents) => void;
  /** The last lines that a process wrote to standard error, for errors that the wire itself does not know of. */
  readonly lastWords?: () => readonly string[];
  /** Closes the connection, gracefully first. Resolves when no process, socket or timer is left. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface WireEvents {
  /** One message. It may be anything: the reader skips and reports a string that is not JSON. */
  readonly message: (text: string) => void;
  /** A message that was too long to be read. `answers` is the id of the request that it answers, where that could be seen. */
  readonly tooLong: (reason: string, answers: RequestId | undefined) => void;
  /** Something unexpected that was skipped: a line that is not a message. */
  readonly problem: (message: string, cause?: unknown) => void;
  /** The connection ended without `close`. Called once at most; nothing comes after it. The reason is for people to read. */
  readonly closed: (reason: McpError) => void;
}
