import { type ErrorObject, readMessage } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { fromWire, McpError } from '../../../protocol/errors.js';
import type { HttpReply } from './carrier.js';
import { mediaType, textInTime } from './read-body.js';
import type { HttpTarget } from './target.js';

const MAX_REFUSAL_BYTES = 64 * 1024;
const HOUR_MS = 3_600_000;

type ReplySource = Pick<HttpTarget, 'displayUrl' | 'conceal'>;

/** The error for a reply without a success status. Its body is read or cancelled. */
export async function refusal(reply: HttpReply, { displayUrl, conceal }: ReplySource): Promise<McpError> {
  const { status } = reply;
  const text = await textInTime(reply, MAX_REFUSAL_BYTES);
  const error = readError(text);
  const detail = error === undefined ? describeBody(reply, text) : shorten(error.message, 200);
  const says = `${displayUrl} answered ${status}${detail === '' ? '' : `: ${conceal(detail)}`}`;
  switch (status) {
    case 401:
      return new McpError(
        'unauthorized',
        `${displayUrl} requires authentication (401). Pass a valid token as \`auth\`, or other credentials as \`headers\`.`,
        { status, data: { status, wwwAuthenticate: reply.header('www-authenticate') } },
      );
    case 403:
      return new McpError(
        'forbidden',
        // A server that says why knows better than any guess.
        error === undefined
          ? `${sentence(says)} The credentials in \`auth\` or \`headers\` do not permit this, or the server refuses this host or origin.`
          : sentence(says),
        { status, data: { status, wwwAuthenticate: reply.header('www-authenticate') } },
      );
    case 407:
      return new McpError(
        'connect_failed',
        `Cannot reach ${displayUrl}: The proxy wants a user name and a password (407). Put them into its URL.`,
        { status, data: { code: 'ERR_PROXY', status } },
      );
    case 408:
      return new McpError('timeout', says, { status });
    case 429:
    case 503: {
      const retryAfterMs = readRetryAfter(reply.header('retry-after'));
      return new McpError('overloaded', says, { status, data: { status, retryAfterMs } });
    }
  }
  return error === undefined
    ? new McpError('bad_response', says, { status, data: { status } })
    : peerError(error, status);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The peer's own error, with the status that it came with. */
export function peerError(error: ErrorObject, status: number): McpError {
  const { code, message, data } = fromWire(error);
  return new McpError(code, message, { status, data, number: error.code });
}

function readError(text: string): ErrorObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const message = readMessage(JSON.parse(text));
    return message.kind === 'error' ? message.error : undefined;
  } catch {
    return undefined;
  }
}

/** Describes a body that is not a message in a few words. Markup is left out. */
export function describeBody(reply: HttpReply, text: string): string {
  const start = text.slice(0, 4096).trim();
  if (mediaType(reply) !== 'text/html' && !start.startsWith('<')) return shorten(start, 200);
  const lower = start.toLowerCase();
  const open = lower.indexOf('>', lower.indexOf('<title'));
  const end = lower.indexOf('</title', open);
  const title = lower.includes('<title') && end !== -1 ? start.slice(open + 1, end).trim() : '';
  return `a web page${title === '' ? '' : ` titled "${shorten(title, 100)}"`}`;
}

/** Seconds or a date. */
function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), HOUR_MS);
}
