// Everything that only servers of the session era need. Loaded with the first of them: most web pages never connect to one.

import { httpSessionExchange } from '../../legacy/client/http/exchange.js';
import { httpSseWire } from '../../legacy/client/http/http-sse-wire.js';
import { answerWith, openSessionLink } from '../../legacy/client/session-link.js';
import type { Link } from '../../protocol/link.js';
import { wireExchange } from '../../transports/client/wire-exchange.js';
import type { EraParts } from './eras.js';

export { answerWith, openSessionLink };

/** Opens a session over Streamable HTTP. */
export function openHttpSession(url: URL, { events, open, http, carrier }: EraParts): Promise<Link> {
  const { revision } = open;
  return openSessionLink(httpSessionExchange(url, http, carrier), {
    events,
    open,
    transport: 'http',
    ...(revision !== undefined && { revision }),
  });
}

/** Opens a session over HTTP+SSE. The transport belongs to 2024-11-05, but servers speak later revisions over it, too. */
export function openHttpSse(url: URL, { events, open, http, carrier }: EraParts): Promise<Link> {
  const { revision } = open;
  return openSessionLink(wireExchange(httpSseWire(url, http, carrier)), {
    events,
    open,
    transport: 'http+sse',
    ...(revision !== undefined && { revision }),
  });
}
