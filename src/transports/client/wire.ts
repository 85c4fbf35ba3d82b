import type { RequestId } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';

/**
 * A connection that carries messages as strings, in both directions: the pipes of a process, a WebSocket, HTTP+SSE. It does
 * not parse them.
 */
export interface Wire {
  /** Sends one message. Messages after the end are dropped; `closed` reports the end. */
  readonly send: (text: string) => void;
  /** Begins to deliver messages; those that arrived before are delivered first. Called once. */
  readonly start: (events: WireEvents) => void;
  /** The last lines that a process wrote to standard error, for errors that others report. */
  readonly lastLines?: () => readonly string[];
  /** Closes the connection, gracefully first. Resolves when no process, socket or timer is left. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface WireEvents {
  /** One message, which need not be JSON: the reader skips and reports a string that is not. */
  readonly message: (text: string) => void;
  /** A message that was too long to read. `answers` is the id of the request that it answers, if that could be found. */
  readonly tooLong: (reason: string, answers: RequestId | undefined) => void;
  /** Unexpected input that was skipped, such as a line that is not a message. */
  readonly problem: (message: string, cause?: unknown) => void;
  /** The connection ended without `close`. Called at most once, and last. */
  readonly closed: (reason: McpError) => void;
}
