// Suggests the right URL when nothing at the given one speaks MCP.

import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { Summary } from './attempts.js';

const PROBE_MS = 2000;

/** Resolves if an MCP server answers at a URL; rejects as `connect` would. */
export type Probe = (url: URL, signal: AbortSignal) => Promise<void>;

export interface WrongPath {
  readonly url: URL;
  /** The name of the URL in messages. */
  readonly target: string;
  /** The error of each attempt. */
  readonly errors: readonly McpError[];
  /** Whether one revision is required: then not all eras were tried, and the server may speak another revision. */
  readonly oneRevision: boolean;
}

/** Says that nothing at a URL speaks MCP, and which URL is probably meant; undefined if something else is wrong. */
export async function wrongPath(
  { url, target, errors, oneRevision }: WrongPath,
  signal: AbortSignal,
  probe: Probe,
): Promise<Summary | undefined> {
  const { status } = reasonOf(errors[0] as McpError);
  if (!errors.every(isNotMcp) || (oneRevision && status !== 404)) return undefined;
  const nothing = `Nothing at ${target} speaks MCP (${status < 300 ? 'the reply is not MCP' : status}).`;
  const other = await otherPath(url, signal, probe);
  if (other === undefined) return { sentence: nothing };
  if (other.presence === 'no')
    return {
      sentence: `${nothing} Most servers are at /mcp, but nothing at ${other.url} speaks MCP either.`,
    };
  const there = other.presence === 'yes' ? ' An MCP server answers there.' : '';
  return { sentence: `${nothing} Did you mean ${other.url}?${there}`, suggestion: other.url };
}

/** Whether an MCP server is at a URL. */
type Presence = 'yes' | 'perhaps' | 'no';

interface OtherPath {
  readonly url: string;
  readonly presence: Presence;
}

/** The URL that is probably meant when nothing at the given one speaks MCP: most servers are at `/mcp`. */
async function otherPath(
  { origin, pathname }: URL,
  signal: AbortSignal,
  probe: Probe,
): Promise<OtherPath | undefined> {
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/mcp')) return undefined;
  const urls = [...new Set([`${origin}/mcp`, `${origin}${path}/mcp`])];
  const all = await Promise.all(
    urls.map(async (url) => ({ url, presence: await probeAt(new URL(url), signal, probe) })),
  );
  const best =
    all.find(({ presence }) => presence === 'yes') ?? all.find(({ presence }) => presence === 'perhaps');
  // Without a server at any of these paths, there is no good suggestion for a deeper path.
  return best ?? (path === '' ? all[0] : undefined);
}

async function probeAt(url: URL, signal: AbortSignal, probe: Probe): Promise<Presence> {
  try {
    await withDeadline({ signal, ms: PROBE_MS, reason: timeoutError }, (own) =>
      unlessAborted(probe(url, own), own),
    );
    return 'yes';
  } catch (error) {
    if (!McpError.is(error)) return 'no';
    const { code, status, number } = reasonOf(error);
    if (status === 404 || status === 405) return 'no';
    // A server of the session era rejects the request of the modern one, usually with a JSON-RPC error.
    if (number !== undefined) return 'yes';
    return code === 'unauthorized' || code === 'forbidden' || status === 400 || status === 406
      ? 'perhaps'
      : 'no';
  }
}

function timeoutError(): McpError {
  return new McpError('timeout', `no response within ${PROBE_MS} ms`);
}

/** The server's own error, when it was taken as a sign of another era. */
function reasonOf(error: McpError): McpError {
  return McpError.is(error.cause) ? error.cause : error;
}

/** Whether a reply came from something that does not know MCP at all: a web page, a 404, a method that is not allowed. */
function isNotMcp(error: McpError): boolean {
  const { code, status, number } = reasonOf(error);
  if (status === 404) return true;
  const refused = status >= 400 && status < 500 && status !== 401 && status !== 403;
  return number === undefined && code === 'bad_response' && (refused || status < 300);
}
