import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { CarriedRequest, HttpCarrier, HttpReply, Lane } from './carrier.js';
import type { HttpLinkOptions } from './options.js';
import { overFetch } from './over-fetch.js';
import { type HeaderRecord, ownHeaders } from './own-headers.js';
import { discard } from './read-body.js';
import { unreachable } from './unreachable.js';

/** An address that requests are sent to, with all that the user wants sent along. */
export interface HttpTarget {
  readonly url: URL;
  /** The address for people to read: without credentials and without the query, which may hold a key. */
  readonly shown: string;
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
  readonly signal: AbortSignal;
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
  given: URL,
  http: HttpLinkOptions,
  carrier: HttpCarrier = overFetch(http.fetch),
): HttpTarget {
  const { maxMessageBytes = 32 * 1024 * 1024 } = http;
  const own = ownHeaders(given, http);
  const address = withoutCredentials(given);
  const shown = show(address);
  let secrets: HeaderRecord = {};

  async function send(request: HttpRequest): Promise<HttpReply> {
    const { method, headers, body, signal, url = address } = request;
    secrets = await own();
    const carried: CarriedRequest = {
      method: method ?? 'POST',
      url,
      headers: method === undefined ? { ...secrets, ...posted, ...headers } : { ...secrets, ...headers },
      body,
      signal,
      lane: request.lane ?? (method === 'GET' ? 'stream' : 'call'),
    };
    const reply = await reach(carried);
    return isRedirect(reply) ? followed(carried, reply, method) : reply;
  }

  // Followed by hand: a POST must stay one, and what is sent in confidence must stay with its server.
  async function followed(
    request: CarriedRequest,
    first: HttpReply,
    method: HttpRequest['method'],
  ): Promise<HttpReply> {
    let reply = first;
    let { url } = request;
    for (let redirects = 0; isRedirect(reply); redirects++) {
      await discard(reply);
      url = follow(reply, url, { method, redirects });
      reply = await reach({ ...request, url });
    }
    return reply;
  }

  async function reach(request: CarriedRequest): Promise<HttpReply> {
    try {
      return await carrier.send(request);
    } catch (error) {
      if (request.signal.aborted) throw cancelledBy(request.signal.reason);
      // A fetch of the user's own may have said already what is wrong.
      throw McpError.is(error) ? error : unreachable(error, shown);
    }
  }

  function conceal(text: string): string {
    let clean = address.search.length > 1 ? text.replaceAll(address.search, '?…') : text;
    for (const word of Object.values(secrets).flatMap((value) => value.split(' '))) {
      if (word.length > 5) clean = clean.replaceAll(word, '…');
    }
    return clean;
  }

  return { url: address, shown, maxBytes: maxMessageBytes, send, conceal, close: carrier.close };
}

export function withoutCredentials(url: URL): URL {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  return copy;
}

function show({ origin, pathname }: URL): string {
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
    new McpError('bad_response', `${show(from)} sends elsewhere (${status || 'a redirection'}). ${why}`, {
      status: status || 302,
    });
  const location = reply.header('location');
  if (location === undefined)
    throw refuse('Where to is not said, or not shown in a browser: connect to it directly.');
  const to = URL.canParse(location, from.href) ? withoutCredentials(new URL(location, from)) : undefined;
  if (to === undefined) throw refuse('The address that it gives cannot be read.');
  const direct = `If you trust it, connect to ${show(to)} directly.`;
  if (to.origin !== from.origin) throw refuse(`Other origins are not followed. ${direct}`);
  if (method !== 'GET' && status !== 307 && status !== 308) {
    throw refuse(`With this status a message would get lost on the way. ${direct}`);
  }
  if (redirects >= MAX_REDIRECTS) throw refuse(`That is more than ${MAX_REDIRECTS} times in a row.`);
  return to;
}
