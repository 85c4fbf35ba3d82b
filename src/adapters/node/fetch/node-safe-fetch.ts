import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../../../async/abort.js';
import { createSafeFetch, type SafeFetchOptions } from '../../../oauth/fetch/create-safe-fetch.js';
import type { HopReply, HopRequest } from '../../../oauth/fetch/hop.js';
import { type SafeFetch, SafeFetchError } from '../../../oauth/fetch/safe-fetch.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { USER_AGENT } from '../../../protocol/version.js';
import { type Dial, dialChecked, secure } from './dial.js';
import { KeptConnections } from './kept-connections.js';
import { addressesOf, codeOf, type Resolve, resolveWithSystem } from './resolve.js';

/** The options of the hardened fetch on Node. */
export interface NodeSafeFetchOptions extends SafeFetchOptions {
  /** A certificate authority in PEM form that is trusted besides those of Node. */
  readonly ca?: string | undefined;
  /** Resolves names. Every address that it returns is checked. Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** Opens connections to addresses that were checked. Default: TCP. */
  readonly dial?: Dial | undefined;
  /**
   * Whether connections stay open for the next requests to the same origin. A request is then sent again if a kept connection turns out to be
   * closed, so it must be one that may be repeated. On Node only. Default: no.
   */
  readonly keepAlive?: boolean | undefined;
}

const MAX_HEADER_BYTES = 32 * 1024;
const MAX_INTERIM_REPLIES = 10;

/**
 * The hardened fetch of Node, Bun and Deno. Each request has a connection of its own, unless `keepAlive` keeps them, to an address that was
 * checked after the name was resolved. Proxies in the environment are not used, since the check would see the proxy's address only.
 */
export function nodeSafeFetch(options: NodeSafeFetchOptions = {}): SafeFetch {
  const { privateHosts, ca, resolve = resolveWithSystem, dial = dialChecked } = options;
  const kept = options.keepAlive === true && !isOtherRuntime() ? new KeptConnections() : undefined;

  /** Finds the addresses that may be dialled. Returns the function that dials. */
  async function findWay(request: HopRequest): Promise<() => Socket> {
    const { url, signal } = request;
    const addresses = await addressesOf(request, resolve);
    // The lookup does not end with the signal.
    signal.throwIfAborted();
    const isSecure = url.protocol === 'https:';
    const port = Number(url.port === '' ? (isSecure ? 443 : 80) : url.port);
    return () => {
      const socket = dial({ url, addresses, port });
      return isSecure ? secure(socket, url, ca) : socket;
    };
  }

  async function sendAlone(request: HopRequest): Promise<HopReply> {
    const connect = await findWay(request);
    return await exchange(request, ({ headers, ...args }) =>
      http.request({
        ...args,
        headers: { ...headers, connection: 'close' },
        agent: new OneConnection(connect),
      }),
    );
  }

  async function sendKept(request: HopRequest, connections: KeptConnections): Promise<HopReply> {
    const { url, reach } = request;
    let sent: ClientRequest | undefined;
    try {
      return await exchange(request, (args) => {
        const connect = async (): Promise<Socket> => (await findWay(request))();
        sent = connections.request({ ...args, origin: `${url.origin} ${reach}`, connect });
        return sent;
      });
    } catch (error) {
      // The server may have closed the connection before the request arrived.
      if (sent?.reusedSocket !== true || !isClosedConnection(error)) throw error;
      return await sendAlone(request);
    }
  }

  return createSafeFetch({
    privateHosts,
    userAgent: USER_AGENT,
    send: (request) => (kept === undefined ? sendAlone(request) : sendKept(request, kept)),
  });
}

/** Bun and Deno have agents of their own, which may dial by themselves. */
function isOtherRuntime(): boolean {
  return 'Bun' in globalThis || 'Deno' in globalThis;
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

/** The options of a request, apart from its connection. */
type RequestArgs = http.ClientRequestArgs & { readonly headers: Readonly<Record<string, string | number>> };

function exchange(request: HopRequest, open: (args: RequestArgs) => ClientRequest): Promise<HopReply> {
  const { url, method, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const req = open({
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        ...Object.fromEntries(headers),
        // For some methods, Node sends a body without its length, which servers read as another request.
        ...(body !== undefined && { 'content-length': body.length }),
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

function isClosedConnection(error: unknown): boolean {
  return (
    error instanceof SafeFetchError &&
    error.code === 'connect_failed' &&
    [' (ECONNRESET)', ' (EPIPE)'].includes(codeOf(error.cause))
  );
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
