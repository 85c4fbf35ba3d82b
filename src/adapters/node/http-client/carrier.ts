import { Buffer } from 'node:buffer';
import http from 'node:http';
import process from 'node:process';
import { McpError } from '../../../protocol/errors.js';
import type { CarriedRequest, HttpCarrier, HttpReply } from '../../../transports/http/client/carrier.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';
import { Dialer, proxyFailed } from './dial.js';
import { Pool } from './pool.js';
import { hostOf, portOf, proxyFor } from './proxy.js';
import { NodeReply } from './reply.js';

/** How long a connection, the head of a stream, and the next part of a body may take. */
export interface NodeHttpLimits {
  readonly connectMs?: number;
  readonly headMs?: number;
  readonly idleMs?: number;
}

const FIVE_MINUTES_MS = 300_000;

/** Failures to connect after which it may well work the next time. */
const passing = new Set([
  'ETIMEDOUT',
  'ECONNRESET',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EPIPE',
]);

/** Carries HTTP/1.1 over Node's own client, on connections of its own: several times as fast as `fetch` is on Node. */
export function nodeCarrier(server: URL, options: NodeHttpOptions, limits: NodeHttpLimits = {}): HttpCarrier {
  const { connectMs, headMs = FIVE_MINUTES_MS, idleMs = FIVE_MINUTES_MS } = limits;
  const secure = server.protocol === 'https:';
  const proxy = proxyFor(server, options.proxy, process.env);
  const dialer = new Dialer({ secure, proxy, tls: options, lookup: options.lookup, connectMs });
  const pool = new Pool(dialer, { secure });
  // A proxy that makes no tunnel is the server, as far as the connection goes.
  const relay = secure ? undefined : proxy;
  const dialled = relay?.url ?? server;
  const fixed = { agent: pool, protocol: server.protocol, host: hostOf(dialled), port: portOf(dialled) };
  const standing = {
    host: server.host,
    'user-agent': 'fullmcp',
    'accept-encoding': secure ? 'br, gzip, deflate' : 'gzip, deflate',
    ...(relay?.authorization && { 'proxy-authorization': relay.authorization }),
  };
  let closed = false;
  let lastUrl: URL | undefined;
  let lastPath = '';

  function pathTo(url: URL): string {
    if (url === lastUrl) return lastPath;
    // What is sent in confidence stays with its server, whoever asks.
    if (url.origin !== server.origin) throw new TypeError(`${url.origin} is not ${server.origin}`);
    lastUrl = url;
    lastPath = `${relay === undefined ? '' : server.origin}${url.pathname}${url.search}`;
    return lastPath;
  }

  function send(request: CarriedRequest): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const { method, url, headers, body, signal, lane } = request;
      if (closed) throw new McpError('connection_closed', 'The connection was closed.');
      if (signal.aborted) throw signal.reason;
      const length = body === undefined ? undefined : { 'content-length': Buffer.byteLength(body) };
      const sent = http.request({
        ...fixed,
        method,
        path: pathTo(url),
        headers: { ...standing, ...headers, ...length },
        lane,
      } as http.RequestOptions);
      let reply: NodeReply | undefined;
      const late = lane === 'stream' ? setTimeout(() => sent.destroy(noHead(headMs)), headMs) : undefined;
      late?.unref();
      const over = (): void => {
        clearTimeout(late);
        signal.removeEventListener('abort', abort);
      };
      function abort(): void {
        reply?.fail(signal.reason);
        sent.destroy();
        over();
        reject(signal.reason);
      }
      signal.addEventListener('abort', abort);
      sent.on('response', (message) => {
        clearTimeout(late);
        pool.heard(message.headers['keep-alive']);
        reply = new NodeReply(message, { url: url.href, idleMs, over });
        resolve(reply);
      });
      sent.on('error', (error) => {
        if (reply !== undefined) return;
        over();
        reject(explained(error, sent));
      });
      sent.end(body);
    });
  }

  function explained(error: Error & { code?: string; unsent?: true }, { socket }: http.ClientRequest): Error {
    if (McpError.is(error) || dialer.isEstablished(socket)) return error;
    if (relay !== undefined) return proxyFailed(relay, error);
    if (error.code !== undefined && passing.has(error.code)) error.unsent = true;
    return error;
  }

  return {
    send,
    close() {
      closed = true;
      dialer.close();
      pool.destroy();
    },
  };
}

function noHead(ms: number): Error {
  return Object.assign(new Error(`No reply for ${ms} ms`), { code: 'ETIMEDOUT' });
}
