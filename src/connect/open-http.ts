import { isObject } from '../jsonrpc/message.js';
import type { McpError } from '../protocol/errors.js';
import type { Link } from '../protocol/link.js';
import { type HttpLinkOptions, openHttpLink } from '../transports/http/link.js';
import { Failures } from './attempts.js';
import type { Era } from './verdicts.js';
import { eraOf, insist, type Way, type WayParts, wasRefused } from './way.js';

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

export function overHttp(url: URL, target: string, http: HttpLinkOptions): Way {
  return async function openOverHttp(parts) {
    const failures = new Failures();
    for (const era of erasToTry(parts)) {
      try {
        return await insist({ link: await openers[era](url, http, parts), era }, parts.revision);
      } catch (thrown) {
        const transport = era === 'http+sse' ? era : 'http';
        const error = failures.add(thrown, { target, transport, era });
        // To be told to log in says more than what was tried before it.
        if (error.code === 'unauthorized' || error.code === 'forbidden') throw error;
        if (parts.open.signal.aborted || !leadsOn[era](error)) break;
      }
    }
    throw failures.toError();
  };
}

function erasToTry({ verdict, revision }: WayParts): readonly Era[] {
  if (verdict !== undefined) return [verdict.era];
  if (revision === undefined) return eras;
  return eraOf(revision) === 'modern' ? ['modern'] : ['session', 'http+sse'];
}

type OpenEra = (url: URL, http: HttpLinkOptions, parts: WayParts) => Promise<Link>;

const openers: Readonly<Record<Era, OpenEra>> = {
  modern(url, http, { events, open, verdict }) {
    const { revision, discovered } = verdict ?? {};
    const known = revision !== undefined && discovered !== undefined ? { revision, discovered } : undefined;
    return openHttpLink(url, { events, open, http, ...(known !== undefined && { known }) });
  },
  async session(url, http, { events, open, revision }) {
    const { httpSessionExchange, openSessionLink } = await import('./session-era.js');
    return openSessionLink(httpSessionExchange(url, http), {
      events,
      open,
      transport: 'http',
      ...(revision !== undefined && { revision }),
    });
  },
  // The transport is of 2024-11-05, but later revisions are spoken over it too.
  async 'http+sse'(url, http, { events, open, revision }) {
    const { httpSseWire, openSessionLink, wireExchange } = await import('./session-era.js');
    return openSessionLink(wireExchange(httpSseWire(url, http)), {
      events,
      open,
      transport: 'http+sse',
      ...(revision !== undefined && { revision }),
    });
  },
};
