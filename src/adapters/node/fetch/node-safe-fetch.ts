import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../../../async/abort.js';
import { createSafeFetch, type SafeFetchOptions } from '../../../oauth/fetch/create-safe-fetch.js';
import type { HopReply, HopRequest } from '../../../oauth/fetch/hop.js';
import { type SafeFetch, SafeFetchError } from '../../../oauth/fetch/safe-fetch.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { USER_AGENT } from '../../../protocol/version.js';
import { type Dial, dialChecked, secure } from './dial.js';
import { addressesOf, codeOf, type Resolve, resolveWithSystem } from './resolve.js';

/** The options of the hardened fetch on Node. */
export interface NodeSafeFetchOptions extends SafeFetchOptions {
  /** A certificate authority in PEM form that is trusted besides those of Node. */
  readonly ca?: string | undefined;
  /** Resolves names. Every address that it returns is checked. Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** Opens connections to addresses that were checked. Default: TCP. */
  readonly dial?: Dial | undefined;
}

const MAX_HEADER_BYTES = 32 * 1024;
const MAX_INTERIM_REPLIES = 10;

/**
 * The hardened fetch of Node, Bun and Deno. Each request has a connection of its own, to an address that was checked after the name
 * was resolved. Proxies in the environment are not used, since the check would see the proxy's address only.
 */
export function nodeSafeFetch(options: NodeSafeFetchOptions = {}): SafeFetch {
  const { privateHosts, ca, resolve = resolveWithSystem, dial = dialChecked } = options;
  return createSafeFetch({
    privateHosts,
    userAgent: USER_AGENT,
    send: async function send(request) {
      const { url } = request;
      const addresses = await addressesOf(request, resolve);
      const connect = (): Socket => {
        const isSecure = url.protocol === 'https:';
        const port = Number(url.port === '' ? (isSecure ? 443 : 80) : url.port);
        const socket = dial({ url, addresses, port });
        return isSecure ? secure(socket, url, ca) : socket;
      };
      return await exchange(request, connect);
    },
  });
}

/** Gives one connection to one request. Node ignores `createConnection` among the options of a request that has an agent. */
class OneConnection extends http.Agent {
  readonly #connect: () => Socket;

  constructor(connect: () => Socket) {
    super({ keepAlive: false, maxSockets: 1 });
    this.#connect = connect;
  }

  override createConnection(): Socket {
    return this.#connect();
  }
}

function exchange(request: HopRequest, connect: () => Socket): Promise<HopReply> {
  const { url, method, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    // The lookup does not end with the signal.
    signal.throwIfAborted();
    const req = http.request({
      agent: new OneConnection(connect),
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        ...Object.fromEntries(headers),
        // For some methods, Node sends a body without its length, which servers read as another request.
        ...(body !== undefined && { 'content-length': body.length }),
        connection: 'close',
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
      setHost: false,
    });
    const forget = onAbort(signal, () => {
      req.destroy();
      reject(signal.reason);
    });
    limitInterimReplies(req, url);
    req.on('response', (message) => {
      try {
        resolve(replyOf(message, url));
      } catch (error) {
        req.destroy();
        reject(error);
      }
    });
    req.on('error', (error) => reject(toSafeFetchError(error, url)));
    req.on('close', () => {
      forget();
      // A server that switches protocols unasked ends the request without an error.
      reject(toSafeFetchError(undefined, url));
    });
    req.end(body);
  });
}

/** A server could send 103 (Early Hints) forever; each of them has its own limit of headers. */
function limitInterimReplies(req: ClientRequest, url: URL): void {
  let count = 0;
  req.on('information', () => {
    if (++count > MAX_INTERIM_REPLIES)
      req.destroy(
        new SafeFetchError('bad_reply', `${displayUrl(url)} sends interim replies without an end.`),
      );
  });
}

function replyOf(message: IncomingMessage, url: URL): HopReply {
  const headers = new Headers();
  const { rawHeaders } = message;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new SafeFetchError('bad_reply', `${displayUrl(url)} replied with a compressed body unasked.`);
  const close = (): void => void message.destroy();
  return { status: message.statusCode ?? 0, headers, chunks: chunksOf(message, url), close };
}

async function* chunksOf(message: IncomingMessage, url: URL): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of message) yield chunk;
  } catch (error) {
    throw toSafeFetchError(error, url);
  }
}

function toSafeFetchError(error: unknown, url: URL): SafeFetchError {
  if (error instanceof SafeFetchError) return error;
  const code = codeOf(error);
  const about = { cause: error };
  if (code === ' (HPE_HEADER_OVERFLOW)')
    return new SafeFetchError(
      'too_large',
      `${displayUrl(url)} replied with more than ${MAX_HEADER_BYTES} bytes of headers.`,
      about,
    );
  if (code.startsWith(' (HPE_'))
    return new SafeFetchError(
      'bad_reply',
      `${displayUrl(url)} sent a reply that is not valid HTTP${code}.`,
      about,
    );
  return new SafeFetchError(
    'connect_failed',
    `${displayUrl(url)} cannot be reached, or closed the connection before its reply was complete${code}.`,
    about,
  );
}
