import { type BackoffOptions, backoff } from '../../../async/delay.js';
import type { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import { refusal } from '../../../transports/http/client/failures.js';
import { discard, isOk } from '../../../transports/http/client/read-body.js';
import { isEventStream } from '../../../transports/http/client/read-response.js';
import type { RequestScope } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';

// The state of a session over HTTP, and its streams: how to open and resume them.

/** The state of one session. Another handshake makes another session. */
export interface HttpSession {
  /** The id from the server; some servers do not send one. */
  id: string | undefined;
  /** The protocol version that the handshake agreed on. */
  version: string | undefined;
  /** Pending while `notifications/initialized` is being sent. */
  ready: Promise<void> | undefined;
  /** Ends the session's own stream. */
  readonly stop: AbortController;
}

export function newSession(): HttpSession {
  return { id: undefined, version: undefined, ready: undefined, stop: new AbortController() };
}

export function sessionHeaders({ id, version }: HttpSession): Record<string, string> {
  return {
    ...(id !== undefined && { 'Mcp-Session-Id': id }),
    ...(version !== undefined && { 'MCP-Protocol-Version': version }),
  };
}

/**
 * The error itself, or an error with `sessionLost` if it says that the session is gone. Spec 2025-11-25, Session Management: the
 * status is 404. Many servers reply with 400 and a message about the session.
 */
export function orSessionLost({ id }: HttpSession, error: McpError): McpError {
  const { status, number, message } = error;
  const isLost =
    (status === 404 && error.code !== 'method_not_found') ||
    (status === 400 && number === -32000 && message.toLowerCase().includes('session'));
  if (id === undefined || !isLost) return error;
  return new McpError('connection_closed', 'The server no longer knows this session.', {
    cause: error,
    status,
    data: { sessionLost: true },
  });
}

/** The position and the time at which to resume a stream. */
export class Cursor {
  /** The value for the header `Last-Event-ID`. */
  lastEventId: string | undefined;
  retryMs: number | undefined;

  /** Reads the position from a stream. True if the stream got further than the position at which it was resumed. */
  advance(reader: EventStreamReader): boolean {
    const { retryMs } = reader;
    const lastEventId = reader.lastEventId === undefined ? undefined : asHeader(reader.lastEventId);
    const hasAdvanced = lastEventId !== undefined && lastEventId !== this.lastEventId;
    // If the id cannot be sent, the one before it is dropped too: with it, the events since would arrive twice.
    if (reader.lastEventId !== undefined) this.lastEventId = lastEventId;
    this.retryMs = retryMs === undefined ? this.retryMs : Math.min(retryMs, MAX_RETRY_MS);
    return hasAdvanced;
  }

  /** The delay before the next attempt: the server's, or after failures a longer one each time. */
  delayMs(failures: number): number {
    if (failures === 0 && this.retryMs !== undefined) return this.retryMs;
    return Math.max(this.retryMs ?? 0, backoff(Math.max(failures - 1, 0), BACKOFF));
  }
}

/** The longest event id that is sent back. Servers accept 16 kB of headers in all, or less. */
const MAX_ID_BYTES = 4096;

/** An event's id in UTF-8 (WHATWG HTML, Server-sent events, the `Last-Event-ID` header). Undefined if a header cannot carry it. */
function asHeader(id: string): string | undefined {
  if (id.length > MAX_ID_BYTES) return undefined;
  let bytes = '';
  for (const byte of new TextEncoder().encode(id)) {
    if (byte < 0x20 || byte === 0x7f) return undefined;
    bytes += String.fromCharCode(byte);
  }
  return bytes.length > MAX_ID_BYTES ? undefined : bytes;
}

const MAX_RETRY_MS = 3_600_000;
const BACKOFF: BackoffOptions = { baseMs: 1000, maxMs: 30_000, jitter: [0.75, 1.25] };

/** Opens a stream with GET, at the cursor. Returns the error if that fails. */
export async function openStream(
  target: HttpTarget,
  { session, cursor, scope }: { session: HttpSession; cursor: Cursor; scope: RequestScope },
): Promise<HttpReply | McpError> {
  const { lastEventId } = cursor;
  const headers = {
    accept: 'text/event-stream',
    ...sessionHeaders(session),
    ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
  };
  try {
    // A login that the user has given up must not begin again with each attempt to open the stream.
    const reply = await target.send({ method: 'GET', headers, until: scope, mayAsk: false });
    if (!isOk(reply)) return orSessionLost(session, await refusal(reply, target));
    if (isEventStream(reply)) return reply;
    await discard(reply);
    return new McpError('bad_response', `${target.displayUrl} has no event stream.`, { status: 406 });
  } catch (error) {
    return toMcpError(error);
  }
}

/** Whether retrying cannot open the stream. */
export function isFinal({ status }: McpError): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}
