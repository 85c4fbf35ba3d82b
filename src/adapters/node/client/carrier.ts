import { Buffer } from 'node:buffer';
import http from 'node:http';
import process from 'node:process';
import { hasEnded, onEnd } from '../../../async/lifetime.js';
import { McpError } from '../../../protocol/errors.js';
import { USER_AGENT } from '../../../protocol/version.js';
import type {
  CarrierRequest,
  HttpCarrier,
  HttpReply,
  Lane,
} from '../../../transports/http/client/carrier.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';
import { Dialer, proxyFailed } from './dial.js';
import { Pool } from './pool.js';
import { hostOf, portOf, proxyFor } from './proxy.js';
import { NodeReply } from './reply.js';

/** The time limits for a connection, for the head of a stream, and for the next part of a body. */
export interface NodeHttpLimits {
  readonly connectMs?: number;
  readonly headMs?: number;
  readonly idleMs?: number;
}

const FIVE_MINUTES_MS = 300_000;

/** Failures to connect that may be temporary. */
const temporaryCodes = new Set([
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
  // A proxy without a tunnel is connected to in place of the server.
  const relay = secure ? undefined : proxy;
  const nextHop = relay?.url ?? server;
  const { protocol } = server;
  const [host, port] = [hostOf(nextHop), portOf(nextHop)];
  const baseHeaders: Readonly<Record<string, string>> = {
    host: server.host,
    'user-agent': USER_AGENT,
    'accept-encoding': secure ? 'br, gzip, deflate' : 'gzip, deflate',
    ...(relay?.authorization && { 'proxy-authorization': relay.authorization }),
  };
  let isClosed = false;
  let lastUrl: URL | undefined;
  let lastPath = '';
  let lastCommon: CarrierRequest['commonHeaders'] | undefined;
  let lastRaw: readonly string[] = [];

  function pathTo(url: URL): string {
    if (url === lastUrl) return lastPath;
    // Credentials are sent only to their own server.
    if (url.origin !== server.origin)
      throw new TypeError(`Requests may only be sent to ${server.origin}, not to ${url.origin}.`);
    lastUrl = url;
    lastPath = `${relay === undefined ? '' : server.origin}${url.pathname}${url.search}`;
    return lastPath;
  }

  /** The headers in Node's raw form: name, value, name, value. Node rejects values that would start a new line. */
  function headersOf({ commonHeaders, headers, body }: CarrierRequest): string[] {
    if (commonHeaders !== lastCommon) {
      lastCommon = commonHeaders;
      lastRaw = Object.entries({ ...baseHeaders, ...commonHeaders }).flat();
    }
    let raw = lastRaw.slice();
    for (const name in headers) {
      if (name in commonHeaders) {
        raw = Object.entries({ ...baseHeaders, ...commonHeaders, ...headers }).flat();
        break;
      }
      raw.push(name, headers[name] as string);
    }
    if (body !== undefined) raw.push('content-length', String(Buffer.byteLength(body)));
    return raw;
  }

  function send(request: CarrierRequest): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const { method, url, body, until, lane } = request;
      if (isClosed) throw new McpError('connection_closed', 'The connection was closed.');
      if (hasEnded(until)) throw until.signal.reason;
      const args: RequestArgs = {
        agent: pool,
        protocol,
        host,
        port,
        method,
        path: pathTo(url),
        headers: headersOf(request),
        lane,
      };
      const req = http.request(args);
      let reply: NodeReply | undefined;
      const headTimer =
        lane === 'stream' ? setTimeout(() => req.destroy(headTimeoutError(headMs)), headMs) : undefined;
      headTimer?.unref();
      const release = (): void => {
        clearTimeout(headTimer);
        unlisten();
      };
      function abort(): void {
        const { reason } = until.signal;
        reply?.fail(reason);
        req.destroy();
        release();
        reject(reason);
      }
      const unlisten = onEnd(until, abort);
      req.on('response', (message) => {
        clearTimeout(headTimer);
        pool.readKeepAlive(message.headers['keep-alive']);
        reply = new NodeReply(message, { url, idleMs, release });
        resolve(reply);
      });
      // If the server switches to another protocol unasked, Node closes the connection without an error.
      req.on('close', () => {
        if (reply !== undefined) return;
        release();
        reject(noReplyError());
      });
      req.on('error', (error) => {
        if (reply !== undefined) return;
        release();
        reject(explain(error, req));
      });
      // Node would write such headers in the body's encoding, if the body were a string.
      if (body !== undefined && args.headers.some(isBeyondAscii)) req.end(Buffer.from(body));
      else req.end(body);
    });
  }

  function explain(error: Error & { code?: string; unsent?: true }, { socket }: http.ClientRequest): Error {
    if (McpError.is(error)) return error;
    const connected = dialer.isEstablished(socket);
    if (!connected && relay !== undefined) return proxyFailed(relay, error);
    const unsent = !connected || pool.isUnused(socket);
    if (unsent && error.code !== undefined && temporaryCodes.has(error.code)) error.unsent = true;
    return error;
  }

  return {
    send,
    close() {
      isClosed = true;
      dialer.close();
      pool.destroy();
    },
  };
}

interface RequestArgs extends http.RequestOptions {
  readonly headers: string[];
  readonly lane: Lane;
}

function isBeyondAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return true;
  return false;
}

function noReplyError(): Error {
  return Object.assign(new Error('The connection ended without a reply'), { code: 'ECONNRESET' });
}

function headTimeoutError(ms: number): Error {
  return Object.assign(new Error(`No reply for ${ms} ms`), { code: 'ETIMEDOUT' });
}
