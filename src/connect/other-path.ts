import { McpError } from '../protocol/errors.js';
import { limited } from './group-waiting.js';

const PROBE_MS = 2000;

/** Looks whether an MCP server answers at a URL. Rejects as `connect` would. */
export type Probe = (url: URL, signal: AbortSignal) => Promise<void>;

/** Whether an MCP server is there: it said so, it may be, or it is not. */
type Found = 'yes' | 'perhaps' | 'no';

export interface OtherPath {
  readonly url: string;
  readonly found: Found;
}

/** The URL that is probably meant where nothing at the given one speaks MCP: most servers are at `/mcp`. */
export async function otherPath(
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
    await limited({ signal, ms: PROBE_MS }, (own) => probe(url, own));
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

/** What a server answered, where that was only taken for the answer of another era. */
export function reasonOf(error: McpError): McpError {
  return McpError.is(error.cause) ? error.cause : error;
}

/** Whether an answer came from something that does not know MCP at all: a web page, a 404, a method that is not allowed. */
export function isNothing(error: McpError): boolean {
  const { code, status, number } = reasonOf(error);
  if (status === 404) return true;
  const refused = status >= 400 && status < 500 && status !== 401 && status !== 403;
  return number === undefined && code === 'bad_response' && (refused || status < 300);
}
