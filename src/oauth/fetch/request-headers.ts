import type { SafeFetchInit } from './safe-fetch.js';

// The headers of a hardened fetch: those that the caller passes, and nothing ambient.

/** Headers that belong to the connection, or that would carry a user's session. */
const notForCallers: readonly string[] = [
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers without meaning beyond the request itself. Everything else may be a credential: `X-Api-Key` is one too. */
const harmless: readonly string[] = [
  'accept',
  'accept-encoding',
  'accept-language',
  'mcp-protocol-version',
  'user-agent',
];

/** The headers of a request. The body gives the content type unless the caller does, as with `fetch`. */
export function headersOf({ headers, body, cookie }: SafeFetchInit, userAgent: string | undefined): Headers {
  const all = new Headers(headers);
  for (const name of notForCallers) {
    if (all.has(name))
      throw new TypeError(
        `The header "${name}" cannot be set: it belongs to the connection or to a browser.`,
      );
  }
  if (!all.has('content-type')) {
    if (body instanceof URLSearchParams)
      all.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    else if (typeof body === 'string') all.set('content-type', 'text/plain;charset=UTF-8');
  }
  if (cookie !== undefined) all.set('cookie', cookie);
  // A compressed reply could be small on the wire and endless in memory.
  all.set('accept-encoding', 'identity');
  // Libraries on top of this fetch set their own name.
  all.delete('user-agent');
  if (userAgent !== undefined) all.set('user-agent', userAgent);
  return all;
}

/** The headers that may go to another origin. */
export function withoutCredentials(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => harmless.includes(name)));
}
