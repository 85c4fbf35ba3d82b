import { hasEnded, type WithSignal } from '../../../async/lifetime.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { AuthorizedRequest, ClientAuth } from '../../../protocol/model/client-auth.js';
import type { CarrierRequest, HttpCarrier, HttpReply, Lane } from './carrier.js';
import { unreachable } from './failures.js';
import type { HttpLinkOptions } from './options.js';
import { overFetch } from './over-fetch.js';
import { discard } from './read-body.js';
import { type HeaderRecord, userHeaders } from './request-headers.js';

/** An address that requests are sent to, with the user's headers. */
export interface HttpTarget {
  readonly url: URL;
  /** The address for messages: without credentials and without the query, which may contain a key. */
  readonly displayUrl: string;
  readonly maxBytes: number;
  /** Sends a request and follows redirects. Rejects with an `McpError` if there is no reply. */
  readonly send: (request: HttpRequest) => Promise<HttpReply>;
  /** Removes from the server's text the secrets that were sent to the server. */
  readonly conceal: (text: string) => string;
  /** Closes its connections. */
  readonly close: () => void;
}

interface HttpRequest {
  readonly method?: 'GET' | 'DELETE';
  readonly headers: HeaderRecord;
  readonly body?: string;
  /** Ends the request. */
  readonly until: WithSignal;
  /** Another address of the same server. */
  readonly url?: URL;
  /** Default: `stream` for GET, and otherwise `call`. */
  readonly lane?: Lane | undefined;
  /** Whether the user may be asked to log in for this request. Default: true. */
  readonly mayAsk?: boolean;
  /** Stops the clock of the request's own deadline while the user is asked. Default: it has none. */
  readonly pauseTimeouts?: AuthorizedRequest['pauseTimeouts'];
}

const MAX_REDIRECTS = 3;
const postHeaders: HeaderRecord = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export function httpTarget(
  original: URL,
  http: HttpLinkOptions,
  carrier: HttpCarrier = overFetch(http.fetch),
): HttpTarget {
  const { maxMessageBytes = 32 * 1024 * 1024 } = http;
  const getUserHeaders = userHeaders(original, http);
  const auth = typeof http.auth === 'object' ? http.auth : undefined;
  let combine: ((user: HeaderRecord, own: HeaderRecord) => HeaderRecord) | undefined;
  const address = withoutCredentials(original);
  const displayUrl = toDisplayUrl(address);
  let secrets: HeaderRecord = {};
  let commonPostHeaders: HeaderRecord = postHeaders;

  function send(request: HttpRequest): Promise<HttpReply> {
    return auth === undefined ? sendOnce(request) : sendWith(auth, request);
  }

  async function sendWith(auth: ClientAuth, request: HttpRequest): Promise<HttpReply> {
    // Loaded with the first request that needs it: most web pages pass a token.
    const authorized = await import('./authorized-send.js');
    combine ??= authorized.combineHeaders();
    const both = combine;
    const { method = 'POST', until, url = address, mayAsk = true, pauseTimeouts } = request;
    const parts = { server: serverOf(address), method, url, until, mayAsk, pauseTimeouts };
    return authorized.sendAuthorized(auth, parts, (headersFor) =>
      sendOnce(request, async (to, user) => both(user, await headersFor(to))),
    );
  }

  async function sendOnce(
    request: HttpRequest,
    withAuth?: (url: URL, user: HeaderRecord) => Promise<HeaderRecord>,
  ): Promise<HttpReply> {
    const { method, headers, body, until, url = address } = request;
    const headersOrPromise = getUserHeaders();
    const user = headersOrPromise instanceof Promise ? await headersOrPromise : headersOrPromise;
    let outgoing: CarrierRequest = {
      method: method ?? 'POST',
      url,
      commonHeaders: commonHeaders(withAuth ? await withAuth(url, user) : user, method),
      headers,
      body,
      until,
      lane: request.lane ?? (method === 'GET' ? 'stream' : 'call'),
    };
    for (let redirects = 0; ; redirects++) {
      let reply: HttpReply;
      try {
        reply = await carrier.send(outgoing);
      } catch (error) {
        throw await toMcpError(error, until);
      }
      if (!isRedirect(reply)) return reply;
      // Followed here and not by the runtime: a POST must stay a POST, and secrets must be sent only to their own server.
      await discard(reply);
      const to = follow(reply, outgoing.url, { method, redirects });
      outgoing = { ...outgoing, url: to };
      // A proof of possession names the URL that it is for.
      if (withAuth !== undefined)
        outgoing = {
          ...outgoing,
          commonHeaders: commonHeaders(await withAuth(to, user), method),
        };
    }
  }

  function commonHeaders(own: HeaderRecord, method: HttpRequest['method']): HeaderRecord {
    if (own !== secrets) {
      secrets = own;
      commonPostHeaders = { ...own, ...postHeaders };
    }
    return method === undefined ? commonPostHeaders : own;
  }

  async function toMcpError(error: unknown, until: WithSignal): Promise<McpError> {
    if (hasEnded(until)) return cancelledBy(until.signal.reason);
    // A `fetch` that the user passes may throw an `McpError` itself.
    return McpError.is(error) ? error : unreachable(error, displayUrl);
  }

  function conceal(text: string): string {
    let clean = address.search.length > 1 ? text.replaceAll(address.search, '?…') : text;
    for (const word of Object.values(secrets).flatMap((value) => value.split(' '))) {
      if (word.length > 5) clean = clean.replaceAll(word, '…');
    }
    return clean;
  }

  return { url: address, displayUrl, maxBytes: maxMessageBytes, send, conceal, close: carrier.close };
}

export function withoutCredentials(url: URL): URL {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  return copy;
}

/** The URL that a `ClientAuth` knows a server by. */
export function serverOf(address: URL): string {
  const copy = new URL(address);
  copy.hash = '';
  // A server has the same tokens, whether it is asked over HTTP or a WebSocket.
  return copy.href.replace(/^ws/, 'http');
}

function toDisplayUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function isRedirect({ status, opaque }: HttpReply): boolean {
  return opaque || (status > 300 && [301, 302, 303, 307, 308].includes(status));
}

interface Hop {
  readonly method: HttpRequest['method'];
  readonly redirects: number;
}

function follow(reply: HttpReply, from: URL, { method, redirects }: Hop): URL {
  const { status } = reply;
  const refuse = (why: string): McpError =>
    new McpError(
      'bad_response',
      `${toDisplayUrl(from)} redirects (${status || 'to an unknown address'}). ${why}`,
      {
        status: status || 302,
      },
    );
  const location = reply.header('location');
  if (location === undefined)
    throw refuse(
      'It gives no address, or the browser hides the address: connect to the final address directly.',
    );
  const to = URL.canParse(location, from.href) ? withoutCredentials(new URL(location, from)) : undefined;
  if (to === undefined || !/^https?:$/.test(to.protocol))
    throw refuse('Its target is not a valid HTTP address.');
  const direct = `If you trust it, connect to ${toDisplayUrl(to)} directly.`;
  if (to.origin !== from.origin) throw refuse(`Other origins are not followed. ${direct}`);
  if (method !== 'GET' && status !== 307 && status !== 308) {
    throw refuse(`With this status, the message would be lost. ${direct}`);
  }
  if (redirects >= MAX_REDIRECTS) throw refuse(`That is more than ${MAX_REDIRECTS} redirects in a row.`);
  return to;
}
