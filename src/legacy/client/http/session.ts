import { type BackoffOptions, backoff } from '../../../async/delay.js';
import type { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import { refusal } from '../../../transports/http/client/failures.js';
import { discard, isOk } from '../../../transports/http/client/read-body.js';
import { isEventStream } from '../../../transports/http/client/read-response.js';
import type { RequestScope } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';

/** The state of one session. Another handshake makes another session. */
export interface HttpSession {
  /** The id from the server; some servers give none. */
  id: string | undefined;
  /** The protocol version that the handshake ended with. */
  version: string | undefined;
  /** Pending while the server is being told that the handshake is over. */
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
 * The error, or the news that the session is gone. Spec 2025-11-25, Session Management: 404 says so. Servers that keep
 * sessions in a table of their own often answer 400 with a message about the session.
 */
export function orSessionLost({ id }: HttpSession, error: McpError): McpError {
  const { status, number, message } = error;
  const lost =
    (status === 404 && error.code !== 'method_not_found') ||
    (status === 400 && number === -32000 && message.toLowerCase().includes('session'));
  if (id === undefined || !lost) return error;
  return new McpError('connection_closed', 'The server no longer knows this session.', {
    cause: error,
    status,
    data: { sessionLost: true },
  });
}

/** Where and when to resume a stream. */
export class Cursor {
  /** As the header has it. */
  lastEventId: string | undefined;
  retryMs: number | undefined;

  /** Reads the position from a stream. True if it got further than where it was resumed. */
  advance(reader: EventStreamReader): boolean {
    const { retryMs } = reader;
    const lastEventId = reader.lastEventId === undefined ? undefined : asHeader(reader.lastEventId);
    const further = lastEventId !== undefined && lastEventId !== this.lastEventId;
    // After an id that cannot be sent, an older one would bring again what has come since.
    if (reader.lastEventId !== undefined) this.lastEventId = lastEventId;
    this.retryMs = retryMs === undefined ? this.retryMs : Math.min(retryMs, MAX_RETRY_MS);
    return further;
  }

  /** Exactly what the server asked for where it did, and otherwise longer each time. */
  delayMs(failures: number): number {
    if (failures === 0 && this.retryMs !== undefined) return this.retryMs;
    return Math.max(this.retryMs ?? 0, backoff(Math.max(failures - 1, 0), BACKOFF));
  }
}

/** The longest id of an event that is sent back: servers read 16 kB of headers in all, or less. */
const MAX_ID_BYTES = 4096;

/** An event's id in UTF-8 (WHATWG HTML, Server-sent events, the `Last-Event-ID` header). Undefined where no header can carry it. */
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

/** Opens a stream with GET, at the cursor. Returns the error if there is none. */
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
    const reply = await target.send({ method: 'GET', headers, until: scope });
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
