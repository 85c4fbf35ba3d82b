import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import type { HttpCarrier } from '../../transports/http/client/carrier.js';
import { type HttpLinkOptions, openHttpLink } from '../../transports/http/client/link.js';
import { needingNode } from '../../transports/http/client/options.js';
import { overFetch } from '../../transports/http/client/over-fetch.js';
import type { Era } from '../targets/known-servers.js';
import type { OpenCarrier } from '../targets/options.js';
import { Failures, type Summary } from './attempts.js';
import { eraOf, insist, type Way, type WayParts, wasRefused } from './eras.js';

// Spec 2026-07-28, Streamable HTTP, Backward Compatibility.

const eras: readonly Era[] = ['modern', 'session', 'http+sse'];

/** Which failures lead on to the next era. Who has to log in first, or cannot be reached, has no era yet. */
const leadsOn: Readonly<Record<Era, (error: McpError) => boolean>> = {
  modern: (error) => error.code === 'unsupported_version' || isUnexplained(error),
  // Who names other versions speaks this era.
  session: (error) => wasRefused(error) && error.code !== 'unsupported_version',
  'http+sse': () => false,
};

/**
 * Browsers do not tell a server that cannot be reached from one whose CORS does not know the headers of the modern era. The
 * session era sends none of those.
 */
function isUnexplained({ code, data }: McpError): boolean {
  return code === 'connect_failed' && isObject(data) && data['code'] === undefined;
}

export interface OverHttp {
  /** What the server is called in messages. */
  readonly target: string;
  readonly http: HttpLinkOptions;
  /** Used unless the options have a `fetch`. */
  readonly carrier?: OpenCarrier | undefined;
}

export function overHttp(url: URL, { target, http, carrier }: OverHttp): Way {
  const open = http.fetch === undefined && carrier !== undefined ? carrier : carriedByFetch;
  return async function openOverHttp(parts) {
    const failures = new Failures();
    for (const era of erasToTry(parts)) {
      const carrier = await open(url, http);
      try {
        return await insist(
          { link: await openers[era](url, { ...parts, http, carrier }), era },
          parts.revision,
        );
      } catch (thrown) {
        carrier.close();
        const transport = era === 'http+sse' ? era : 'http';
        const error = failures.add(thrown, { target, transport, era });
        // To be told to log in says more than what was tried before it.
        if (error.code === 'unauthorized' || error.code === 'forbidden') throw error;
        if (parts.open.signal.aborted || !leadsOn[era](error)) break;
      }
    }
    throw failures.toError(await summary(failures, parts));
  };

  /** Where nothing speaks MCP, the path is most often wrong, and the right one can be named. */
  async function summary({ errors }: Failures, parts: WayParts): Promise<Summary | undefined> {
    const { known, revision, open: opening } = parts;
    if (known !== undefined || opening.signal.aborted) return undefined;
    const at = { url, target, errors, insists: revision !== undefined };
    return import('./wrong-path.js')
      .then(({ wrongPath }) => wrongPath(at, opening.signal, (other, signal) => probe(other, signal, parts)))
      .catch(() => undefined);
  }

  // Headers and tokens are not sent: they are for the URL that was given.
  async function probe(at: URL, signal: AbortSignal, parts: WayParts): Promise<void> {
    const { auth: _, headers: __, ...bare } = http;
    const carrier = await open(at, bare);
    try {
      const quiet = { ...parts.events, problem() {}, notification() {}, lost() {} };
      const opening = { events: quiet, open: { ...parts.open, signal }, http: bare, carrier };
      const link = await openHttpLink(at, opening);
      await link.close();
    } finally {
      carrier.close();
    }
  }
}

function erasToTry({ known, revision }: WayParts): readonly Era[] {
  if (known !== undefined) return [known.era];
  if (revision === undefined) return eras;
  return eraOf(revision) === 'modern' ? ['modern'] : ['session', 'http+sse'];
}

async function carriedByFetch(_url: URL, http: HttpLinkOptions): Promise<HttpCarrier> {
  const odd = needingNode(http);
  if (odd.length === 0) return overFetch(http.fetch);
  throw new McpError(
    'invalid_request',
    http.fetch === undefined
      ? `${odd.join(', ')}: this needs Node's own HTTP, which this runtime does not have. Hand in a \`fetch\` that does it.`
      : `${odd.join(', ')}: this cannot be told to the \`fetch\` that was handed in. Leave out one or the other.`,
  );
}

interface EraParts extends WayParts {
  readonly http: HttpLinkOptions;
  readonly carrier: HttpCarrier;
}

type OpenEra = (url: URL, parts: EraParts) => Promise<Link>;

const openers: Readonly<Record<Era, OpenEra>> = {
  modern(url, { events, open, known, http, carrier }) {
    const { revision, discovered } = known ?? {};
    const recalled =
      revision !== undefined && discovered !== undefined ? { revision, discovered } : undefined;
    return openHttpLink(url, {
      events,
      open,
      http,
      carrier,
      ...(recalled !== undefined && { known: recalled }),
    });
  },
  async session(url, { events, open, revision, http, carrier }) {
    const { httpSessionExchange, openSessionLink } = await import('./session-era.js');
    return openSessionLink(httpSessionExchange(url, http, carrier), {
      events,
      open,
      transport: 'http',
      ...(revision !== undefined && { revision }),
    });
  },
  // The transport is of 2024-11-05, but later revisions are spoken over it too.
  async 'http+sse'(url, { events, open, revision, http, carrier }) {
    const { httpSseWire, openSessionLink, wireExchange } = await import('./session-era.js');
    return openSessionLink(wireExchange(httpSseWire(url, http, carrier)), {
      events,
      open,
      transport: 'http+sse',
      ...(revision !== undefined && { revision }),
    });
  },
};
