// Opens connections: directly, or through a proxy's tunnel, within a time limit.

import type { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import net from 'node:net';
import tls, { type SecureContext } from 'node:tls';
import { McpError } from '../../../protocol/errors.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';
import { readPem } from '../files/pem.js';
import { type HttpProxy, hostOf, portOf } from './proxy.js';

export type DialCallback = (error: Error | null, socket?: Socket) => void;

/** The options of a connection; Node's agent and `ws` add to them. */
export interface DialOptions {
  readonly host: string;
  readonly port: number;
  readonly [more: string]: unknown;
}

/** The time limit of a connection: the lookup, the network, the proxy and TLS together. */
const CONNECT_MS = 10_000;

export interface DialerParts {
  readonly secure: boolean;
  readonly proxy: HttpProxy | undefined;
  readonly tls: Pick<NodeHttpOptions, 'ca' | 'cert' | 'key'>;
  readonly lookup: NodeHttpOptions['lookup'];
  readonly connectMs?: number | undefined;
  /** Whether the proxy opens a tunnel even without TLS, as WebSockets need it. */
  readonly alwaysTunnel?: boolean;
}

/** Opens connections to one server, and closes those that are not established yet. */
export class Dialer {
  readonly #parts: DialerParts;
  readonly #context: SecureContext | undefined;
  readonly #opening = new Set<Socket | http.ClientRequest>();
  readonly #established = new WeakSet<object>();
  /** The TLS session of the last connection, which shortens the next handshake. */
  #session: Buffer | undefined;
  #closed = false;

  constructor(parts: DialerParts) {
    this.#parts = parts;
    this.#context = secureContext(parts.tls);
  }

  /** Opens a connection to the server, or to a proxy that forwards each request: without TLS, no tunnel is needed. */
  dial(options: DialOptions, callback: DialCallback): Socket | undefined {
    if (this.#closed) {
      callback(new McpError('connection_closed', 'The connection was closed.'));
      return undefined;
    }
    const { secure, proxy, lookup, alwaysTunnel = false } = this.#parts;
    const target = { ...options, ...(lookup && { lookup: lookup as LookupFunction }) };
    if (proxy !== undefined && (secure || alwaysTunnel)) {
      this.#tunnel(target, proxy, callback);
      return undefined;
    }
    return secure ? this.#secure(target) : this.#limitTime(net.connect(target), 'connect');
  }

  /** Whether a request could have been sent on the connection. */
  isEstablished(socket: object | null | undefined): boolean {
    return socket !== null && socket !== undefined && this.#established.has(socket);
  }

  close(): void {
    this.#closed = true;
    for (const opening of this.#opening) opening.destroy();
  }

  #secure(options: DialOptions): Socket {
    const { host } = options;
    const socket = tls.connect({
      servername: net.isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...options,
      ...(this.#context && { secureContext: this.#context }),
      ...(this.#session && { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    socket.once('error', () => {
      this.#session = undefined;
    });
    return this.#limitTime(socket, 'secureConnect');
  }

  #limitTime(socket: Socket, event: 'connect' | 'secureConnect'): Socket {
    const timer = setTimeout(() => socket.destroy(timeoutError()), this.#parts.connectMs ?? CONNECT_MS);
    this.#opening.add(socket);
    const settle = (): void => {
      clearTimeout(timer);
      this.#opening.delete(socket);
    };
    socket.once(event, () => {
      settle();
      this.#established.add(socket);
    });
    socket.once('close', settle);
    return socket;
  }

  #tunnel(options: DialOptions, proxy: HttpProxy, callback: DialCallback): void {
    const { host, port, lookup } = options;
    const { url, authorization } = proxy;
    const authority = net.isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
    const toProxy = { host: hostOf(url), port: portOf(url), lookup: lookup as LookupFunction | undefined };
    const { lookup: _, ...direct } = options;
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization && { 'proxy-authorization': authorization }) },
      createConnection: () =>
        this.#limitTime(
          url.protocol === 'https:'
            ? tls.connect({ servername: proxyName(url), ...toProxy })
            : net.connect(toProxy),
          url.protocol === 'https:' ? 'secureConnect' : 'connect',
        ),
    });
    const timer = setTimeout(() => request.destroy(timeoutError()), this.#parts.connectMs ?? CONNECT_MS);
    this.#opening.add(request);
    const settle = (): void => {
      clearTimeout(timer);
      this.#opening.delete(request);
    };
    request.once('error', (error) => {
      settle();
      callback(proxyFailed(proxy, error));
    });
    request.once('connect', (reply, socket) => {
      settle();
      const { statusCode = 0 } = reply;
      if (statusCode >= 200 && statusCode < 300) {
        return callback(null, this.#parts.secure ? this.#secure({ ...direct, socket }) : socket);
      }
      socket.destroy();
      callback(proxyRefused(proxy, authority, statusCode));
    });
    request.end();
  }
}

function proxyName(url: URL): string {
  const host = hostOf(url);
  return net.isIP(host) === 0 ? host : '';
}

function timeoutError(): Error {
  return Object.assign(new Error('The connection took too long'), { code: 'ETIMEDOUT' });
}

/** The error for a proxy that cannot be reached: nothing was sent. */
export function proxyFailed({ url, from }: HttpProxy, cause: Error & { readonly code?: unknown }): McpError {
  const code = typeof cause.code === 'string' ? cause.code : 'ERR_PROXY';
  return new McpError(
    'connect_failed',
    `Cannot reach the proxy ${url.origin} (${code}), which is set in ${from}.`,
    { cause, data: { code, unsent: true } },
  );
}

function proxyRefused({ url, from }: HttpProxy, authority: string, status: number): McpError {
  const what =
    status === 407
      ? ` requires a user name and a password. Put them in the URL in ${from}.`
      : ` refused to connect to ${authority} (${status}).`;
  return new McpError('connect_failed', `The proxy ${url.origin}${what}`, {
    data: { code: 'ERR_PROXY', status, unsent: true },
  });
}

/** Created once: it costs more than a connection, and a mistake in the options is found before anything is sent. */
function secureContext({ ca, cert, key }: DialerParts['tls']): SecureContext | undefined {
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  try {
    const authorities = readPem('ca', ca);
    // Node ignores certificate authorities that it cannot read.
    for (const authority of authorities ?? []) new X509Certificate(authority);
    return tls.createSecureContext({
      ca: authorities,
      cert: readPem('cert', cert),
      key: readPem('key', key),
      minVersion: 'TLSv1.2',
    });
  } catch (error) {
    throw new McpError(
      'invalid_request',
      `The options \`ca\`, \`cert\` and \`key\` cannot be used (${(error as Error).message}). Each must be PEM text or the path of a PEM file, and \`key\` must belong to \`cert\`.`,
    );
  }
}
