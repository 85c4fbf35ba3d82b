import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { Summary } from './attempts.js';

const PROBE_MS = 2000;

/** Looks whether an MCP server answers at a URL. Rejects as `connect` would. */
export type Probe = (url: URL, signal: AbortSignal) => Promise<void>;

export interface WrongPath {
  readonly url: URL;
  /** What the URL is called in messages. */
  readonly target: string;
  /** What came of each way that was tried. */
  readonly errors: readonly McpError[];
  /** Whether one revision was insisted on: then only some ways were tried, and the server may speak another. */
  readonly insists: boolean;
}

/** Says that nothing at a URL speaks MCP, and which URL is probably meant; undefined where something else is wrong. */
export async function wrongPath(
  { url, target, errors, insists }: WrongPath,
  signal: AbortSignal,
  probe: Probe,
): Promise<Summary | undefined> {
  const { status } = reasonOf(errors[0] as McpError);
  if (!errors.every(isNothing) || (insists && status !== 404)) return undefined;
  const nothing = `Nothing at ${target} speaks MCP (${status < 300 ? 'it answers something else' : status}).`;
  const other = await otherPath(url, signal, probe);
  if (other === undefined) return { sentence: nothing };
  if (other.found === 'no')
    return { sentence: `${nothing} Most servers are at /mcp, but nothing at ${other.url} speaks it either.` };
  const there = other.found === 'yes' ? ' An MCP server answers there.' : '';
  return { sentence: `${nothing} Did you mean ${other.url}?${there}`, suggestion: other.url };
}

/** Whether an MCP server is there: it said so, it may be, or it is not. */
type Found = 'yes' | 'perhaps' | 'no';

interface OtherPath {
  readonly url: string;
  readonly found: Found;
}

/** The URL that is probably meant where nothing at the given one speaks MCP: most servers are at `/mcp`. */
async function otherPath(
  { origin, pathname }: URL,
  signal: AbortSignal,
  probe: Probe,
): Promise<OtherPath | undefined> {
  const path = pathname.replace(/\/+$/, '');
  if (path.endsWith('/mcp')) return undefined;
  const urls = [...new Set([`${origin}/mcp`, `${origin}${path}/mcp`])];
  const all = await Promise.all(
    urls.map(async (url) => ({ url, found: await look(new URL(url), signal, probe) })),
  );
  const best = all.find(({ found }) => found === 'yes') ?? all.find(({ found }) => found === 'perhaps');
  // A deeper path that nobody answers at is anybody's guess.
  return best ?? (path === '' ? all[0] : undefined);
}

async function look(url: URL, signal: AbortSignal, probe: Probe): Promise<Found> {
  try {
    await withDeadline({ signal, ms: PROBE_MS, reason: tooLate }, (own) =>
      unlessAborted(probe(url, own), own),
    );
    return 'yes';
  } catch (error) {
    if (!McpError.is(error)) return 'no';
    const { code, status, number } = reasonOf(error);
    if (status === 404 || status === 405) return 'no';
    // A server of the session era refuses the question of the modern one, mostly in JSON-RPC.
    if (number !== undefined) return 'yes';
    return code === 'unauthorized' || code === 'forbidden' || status === 400 || status === 406
      ? 'perhaps'
      : 'no';
  }
}

function tooLate(): McpError {
  return new McpError('timeout', `no answer within ${PROBE_MS} ms`);
}

/** What a server answered, where that was only taken for the answer of another era. */
function reasonOf(error: McpError): McpError {
  return McpError.is(error.cause) ? error.cause : error;
}

/** Whether an answer came from something that does not know MCP at all: a web page, a 404, a method that is not allowed. */
function isNothing(error: McpError): boolean {
  const { code, status, number } = reasonOf(error);
  if (status === 404) return true;
  const refused = status >= 400 && status < 500 && status !== 401 && status !== 403;
  return number === undefined && code === 'bad_response' && (refused || status < 300);
}
