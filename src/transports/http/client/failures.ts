import { type ErrorObject, isObject, readMessage } from '../../../jsonrpc/message.js';
import { MAX_HTTP_REPLY_DEPTH, parseJson, RefusedJson } from '../../../jsonrpc/parse.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { fromWire, McpError } from '../../../protocol/errors.js';
import type { HttpReply } from './carrier.js';
import { mediaType, readTextSoon } from './read-body.js';

// The errors for requests that failed: no reply, a reply without a success status, or one that broke off.

const MAX_REFUSAL_BYTES = 64 * 1024;
const HOUR_MS = 3_600_000;

/** The part of a target that an error names. */
interface ReplySource {
  readonly displayUrl: string;
  readonly conceal: (text: string) => string;
}

/** The error for a reply without a success status. Its body is read or cancelled. */
export async function refusal(reply: HttpReply, { displayUrl, conceal }: ReplySource): Promise<McpError> {
  const { status } = reply;
  const text = await readTextSoon(reply, MAX_REFUSAL_BYTES);
  const error = readError(text);
  const detail = error === undefined ? describeBody(reply, text) : shorten(error.message, 200);
  const says = `${displayUrl} answered ${status}${detail === '' ? '' : `: ${conceal(detail)}`}`;
  switch (status) {
    case 401:
    case 403: {
      const challenge = reply.header('www-authenticate');
      const isPage = mediaType(reply) === 'text/html';
      const { refusalReason } = await import('./refusal-reason.js');
      return refused({ displayUrl, conceal }, status, {
        challenge,
        reason: refusalReason({ challenge, body: text, isPage }),
        page: isPage ? detail : undefined,
      });
    }
    case 407:
      return new McpError(
        'connect_failed',
        `Cannot reach ${displayUrl}: the proxy requires a user name and a password (407). Put them in its URL.`,
        { status, data: { code: 'ERR_PROXY', status } },
      );
    case 408:
      return new McpError('timeout', says, { status });
    case 429:
    case 503: {
      const retryAfterMs = retryMsIn(error) ?? readRetryAfter(reply.header('retry-after'));
      return new McpError('overloaded', says, { status, data: { status, retryAfterMs } });
    }
  }
  return error === undefined
    ? new McpError('bad_response', says, { status, data: { status } })
    : peerError(error, status);
}

interface RefusalFacts {
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | undefined;
  readonly reason: string | undefined;
  /** The web page that came in place of a reason, in a few words. */
  readonly page?: string | undefined;
}

/** The error for a reply 401 or 403, with the reason that the server gives. */
function refused(
  { displayUrl, conceal }: ReplySource,
  status: 401 | 403,
  { challenge, reason, page }: RefusalFacts,
): McpError {
  const shown = reason === undefined ? undefined : conceal(reason);
  const data = { status, wwwAuthenticate: challenge, ...(shown !== undefined && { reason: shown }) };
  if (status === 403) {
    const told = shown ?? (page && conceal(page));
    const says = sentence(`${displayUrl} answered 403${told === undefined ? '' : `: ${told}`}`);
    // The server's own reason is better than a guess.
    const guess =
      'The credentials in `auth` or `headers` do not permit this, or the server refuses this host or origin.';
    return new McpError('forbidden', shown === undefined ? `${says} ${guess}` : says, { status, data });
  }
  const says = sentence(
    `${displayUrl} requires authentication (401)${shown === undefined ? '' : `: ${shown}`}`,
  );
  const advice = 'Pass a valid token as `auth`, or other credentials as `headers`.';
  return new McpError('unauthorized', `${says} ${advice}`, { status, data });
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The peer's own error, with the status of its reply, if the error does not have one. */
export function peerError(error: ErrorObject, status: number): McpError {
  const { code, message, data, status: own } = fromWire(error);
  return new McpError(code, message, {
    status: code === 'overloaded' ? own : status,
    data,
    number: error.code,
  });
}

function readError(text: string): ErrorObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const value = parseJson(text, MAX_HTTP_REPLY_DEPTH);
  const message = value instanceof RefusedJson ? undefined : readMessage(value);
  return message?.kind === 'error' ? message.error : undefined;
}

/** Describes a body that is not a message in a few words, without markup. */
export function describeBody(reply: HttpReply, text: string): string {
  const start = text.slice(0, 4096).trim();
  if (mediaType(reply) !== 'text/html' && !start.startsWith('<')) return shorten(start, 200);
  const lower = start.toLowerCase();
  const open = lower.indexOf('>', lower.indexOf('<title'));
  const end = lower.indexOf('</title', open);
  const title = lower.includes('<title') && end !== -1 ? start.slice(open + 1, end).trim() : '';
  return `a web page${title === '' ? '' : ` titled "${shorten(title, 100)}"`}`;
}

/** The time to wait that the error itself has, which is more precise than the header. */
function retryMsIn(error: ErrorObject | undefined): number | undefined {
  const ms = isObject(error?.data) ? error.data['retryAfterMs'] : undefined;
  return typeof ms === 'number' && ms >= 0 ? Math.min(ms, HOUR_MS) : undefined;
}

/** Reads a delay in seconds, or a date. */
function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), HOUR_MS);
}

/** Codes that prove that the server did not receive the request, so that it is safe to retry. */
const unsentCodes = ['ECONNREFUSED', 'ConnectionRefused', 'ENOTFOUND', 'EAI_AGAIN'];

/** The error for a request without a reply. The runtime's own message is not used: it may contain the whole address. */
export async function unreachable(error: unknown, displayUrl: string): Promise<McpError> {
  const code = codeOf(error);
  // Browsers give no codes, so they never load the sentences for them, which they could not do without a network either.
  const message =
    code === undefined
      ? `Cannot reach ${displayUrl}: ${unknownReason(error)}`
      : (await import('./reasons.js')).failureFor(code, displayUrl);
  return new McpError(code === 'UND_ERR_HEADERS_TIMEOUT' ? 'timeout' : 'connect_failed', message, {
    cause: error,
    data: { code, ...(isUnsent(error, code) && { unsent: true }) },
  });
}

/** The carrier for Node marks an error if the request was not sent. */
function isUnsent(error: unknown, code: string | undefined): boolean {
  return (
    (error as { unsent?: unknown }).unsent === true || (code !== undefined && unsentCodes.includes(code))
  );
}

/** The error for a reply that ended before the response. */
export function incomplete(displayUrl: string, cause?: unknown): McpError {
  return new McpError('connection_closed', `The answer of ${displayUrl} ended before it was complete.`, {
    cause,
    data: { incomplete: true },
  });
}

function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const { code } = at as { readonly code?: unknown };
    // A DOMException has a number there.
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function unknownReason(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'
    ? 'browsers and fetch block this port. Let the server listen on another one.'
    : 'no reason is known. In a browser, the server may not allow this page (CORS).';
}
