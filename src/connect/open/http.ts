// Opens a link over HTTP: tries the modern era, then a session, then HTTP+SSE.

import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents } from '../../protocol/link.js';
import type { HttpCarrier } from '../../transports/http/client/carrier.js';
import { type HttpLinkOptions, openHttpLink } from '../../transports/http/client/link.js';
import { listNodeOptions } from '../../transports/http/client/options.js';
import { overFetch } from '../../transports/http/client/over-fetch.js';
import type { Era } from '../targets/known-servers.js';
import type { OpenCarrier } from '../targets/options.js';
import { Attempts, type Summary } from './attempts.js';
import {
  type EraOptions,
  type EraParts,
  eraOf,
  isRefused,
  type OpenAnyEra,
  requireRevision,
} from './eras.js';

// Spec 2026-07-28, Streamable HTTP, Backward Compatibility.

const eras: readonly Era[] = ['modern', 'session', 'http+sse'];

/** Whether to try the next era after a failure. A failure to authenticate, or to reach the server, says nothing about its era. */
const triesNextEra: Readonly<Record<Era, (error: McpError) => boolean>> = {
  modern: (error) => error.code === 'unsupported_version' || isUnexplained(error),
  // A server that names other versions speaks this era.
  session: (error) => isRefused(error) && error.code !== 'unsupported_version',
  'http+sse': () => false,
};

/**
 * Browsers do not distinguish a server that cannot be reached from one whose CORS rules reject the headers of the modern era,
 * which the session era does not send.
 */
function isUnexplained({ code, data }: McpError): boolean {
  return code === 'connect_failed' && isObject(data) && data['code'] === undefined;
}

export interface OverHttp {
  /** The name of the server in messages. */
  readonly target: string;
  readonly http: HttpLinkOptions;
  /** Carries the requests, unless the options have a `fetch`. */
  readonly carrier?: OpenCarrier | undefined;
}

export function overHttp(url: URL, { target, http, carrier }: OverHttp): OpenAnyEra {
  const open = http.fetch === undefined && carrier !== undefined ? carrier : carriedByFetch;
  return async function openOverHttp(events, options) {
    const attempts = new Attempts();
    const own = typeof http.auth === 'object' ? (await import('./pausing.js')).pausing(http, events) : http;
    for (const era of erasToTry(options)) {
      const carrier = await open(url, http);
      try {
        const link = await openByEra[era](url, { events, open: options, http: own, carrier });
        return await requireRevision(link, options.revision);
      } catch (thrown) {
        carrier.close();
        const transport = era === 'http+sse' ? era : 'http';
        const error = attempts.add(thrown, { target, transport, era });
        // An authentication failure says more than the failures before it.
        if (error.code === 'unauthorized' || error.code === 'forbidden') throw error;
        if (options.signal.aborted || !triesNextEra[era](error)) break;
      }
    }
    throw attempts.toError(await summary(attempts, events, options));
  };

  /** When nothing at the URL speaks MCP, its path is usually wrong, and the right one can be suggested. */
  async function summary(
    { errors }: Attempts,
    events: LinkEvents,
    options: EraOptions,
  ): Promise<Summary | undefined> {
    const { known, revision, signal } = options;
    if (known !== undefined || signal.aborted) return undefined;
    const at = { url, target, errors, oneRevision: revision !== undefined };
    return import('./wrong-path.js')
      .then(({ wrongPath }) =>
        wrongPath(at, signal, (other, own) => probe(other, events, { ...options, signal: own })),
      )
      .catch(() => undefined);
  }

  // Headers and tokens are not sent: they are for the target's own URL only.
  async function probe(at: URL, events: LinkEvents, options: EraOptions): Promise<void> {
    const { auth: _, headers: __, ...withoutSecrets } = http;
    const carrier = await open(at, withoutSecrets);
    try {
      const quiet = { ...events, problem() {}, notification() {}, lost() {} };
      const link = await openHttpLink(at, { events: quiet, open: options, http: withoutSecrets, carrier });
      await link.close();
    } finally {
      carrier.close();
    }
  }
}

function erasToTry({ known, revision }: EraOptions): readonly Era[] {
  if (known !== undefined) return [known.era];
  if (revision === undefined) return eras;
  return eraOf(revision) === 'modern' ? ['modern'] : ['session', 'http+sse'];
}

async function carriedByFetch(_url: URL, http: HttpLinkOptions): Promise<HttpCarrier> {
  const unsupported = listNodeOptions(http);
  if (unsupported.length === 0) return overFetch(http.fetch);
  throw new McpError(
    'invalid_request',
    http.fetch === undefined
      ? `${unsupported.join(', ')}: this needs Node. Elsewhere, pass a \`fetch\` that supports it.`
      : `${unsupported.join(', ')}: this has no effect with the option \`fetch\`. Leave out one of them.`,
  );
}

type OpenEra = (url: URL, parts: EraParts) => Promise<Link>;

const openByEra: Readonly<Record<Era, OpenEra>> = {
  modern(url, { events, open, http, carrier }) {
    const { revision, discovered } = open.known ?? {};
    return openHttpLink(url, {
      events,
      open,
      http,
      carrier,
      ...(revision !== undefined && discovered !== undefined && { known: { revision, discovered } }),
    });
  },
  async session(url, parts) {
    return (await import('./session-era.js')).openHttpSession(url, parts);
  },
  async 'http+sse'(url, parts) {
    return (await import('./session-era.js')).openHttpSse(url, parts);
  },
};
