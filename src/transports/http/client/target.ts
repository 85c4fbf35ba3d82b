import { hasEnded, type WithSignal } from '../../../async/lifetime.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { CarriedRequest, HttpCarrier, HttpReply, Lane } from './carrier.js';
import { unreachable } from './failures.js';
import type { HttpLinkOptions } from './options.js';
import { overFetch } from './over-fetch.js';
import { discard } from './read-body.js';
import { type HeaderRecord, ownHeaders } from './request-headers.js';

/** An address that requests are sent to, with all that the user wants sent along. */
export interface HttpTarget {
  readonly url: URL;
  /** The address for people to read: without credentials and without the query, which may hold a key. */
  readonly displayUrl: string;
  readonly maxBytes: number;
  /** Sends a request. Gives any answer but a redirection; rejects with an `McpError` where there is none. */
  readonly send: (request: HttpRequest) => Promise<HttpReply>;
  /** Takes out of a server's text what was sent to it in confidence. */
  readonly conceal: (text: string) => string;
  /** Closes its connections. */
  readonly close: () => void;
}

interface HttpRequest {
  readonly method?: 'GET' | 'DELETE';
  readonly headers: HeaderRecord;
  readonly body?: string;
  /** Its end is that of the request. */
  readonly until: WithSignal;
  /** Another address of the same server. */
  readonly url?: URL;
  /** Default: `stream` for GET, and otherwise `call`. */
  readonly lane?: Lane | undefined;
}

const MAX_REDIRECTS = 3;
const posted: HeaderRecord = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export function httpTarget(
  original: URL,
  http: HttpLinkOptions,
  carrier: HttpCarrier = overFetch(http.fetch),
): HttpTarget {
  const { maxMessageBytes = 32 * 1024 * 1024 } = http;
  const own = ownHeaders(original, http);
  const address = withoutCredentials(original);
  const displayUrl = toDisplayUrl(address);
  let secrets: HeaderRecord = {};
  let withPosted: HeaderRecord = posted;

  async function send(request: HttpRequest): Promise<HttpReply> {
    const { method, headers, body, until, url = address } = request;
    const mine = own();
    const secret = mine instanceof Promise ? await mine : mine;
    if (secret !== secrets) {
      secrets = secret;
      withPosted = { ...secrets, ...posted };
    }
    let carried: CarriedRequest = {
      method: method ?? 'POST',
      url,
      commonHeaders: method === undefined ? withPosted : secrets,
      headers,
      body,
      until,
      lane: request.lane ?? (method === 'GET' ? 'stream' : 'call'),
    };
    for (let redirects = 0; ; redirects++) {
      let reply: HttpReply;
      try {
        reply = await carrier.send(carried);
      } catch (error) {
        throw toError(error, until);
      }
      if (!isRedirect(reply)) return reply;
      // Followed by hand: a POST must stay one, and what is sent in confidence must stay with its server.
      await discard(reply);
      carried = { ...carried, url: follow(reply, carried.url, { method, redirects }) };
    }
  }

  function toError(error: unknown, until: WithSignal): McpError {
    if (hasEnded(until)) return cancelledBy(until.signal.reason);
    // A fetch of the user's own may have said already what is wrong.
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
    throw refuse('The address that it gives cannot be read, or is not one of HTTP.');
  const direct = `If you trust it, connect to ${toDisplayUrl(to)} directly.`;
  if (to.origin !== from.origin) throw refuse(`Other origins are not followed. ${direct}`);
  if (method !== 'GET' && status !== 307 && status !== 308) {
    throw refuse(`With this status a message would get lost on the way. ${direct}`);
  }
  if (redirects >= MAX_REDIRECTS) throw refuse(`That is more than ${MAX_REDIRECTS} times in a row.`);
  return to;
}
