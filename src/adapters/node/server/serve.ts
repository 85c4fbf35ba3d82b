/// <reference lib="esnext.disposable" preserve="true" />

import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { delay } from '../../../async/delay.js';
import { every } from '../../../async/every.js';
import { nextTurn } from '../../../async/next-turn.js';
import { timerMs } from '../../../protocol/checks/options.js';
import type { Logger } from '../../../server/state/log.js';
import type { HttpEndpoint } from '../../../transports/http/server/endpoint.js';
import { NodeIncoming } from './incoming.js';
import type { ServeOptions } from './options.js';
import { endUnserved, onSignals } from './signals.js';
import { openTls } from './tls.js';
import { isWebSocket, refuse, serveAsHttp, type Upgrades } from './upgrades.js';

/** A server that listens. */
export interface Serving extends AsyncDisposable {
  /** The address to connect to: `publicUrl`, or one made of host, port and path. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /**
   * Turns `/ready` to 503 and serves for `shutdownDelayMs`. Then stops listening, ends subscriptions, lets open calls finish for
   * `drainMs`, and closes the server that was passed to `serve`.
   */
  readonly close: () => Promise<void>;
  /** Resolves when everything is closed. */
  readonly closed: Promise<void>;
}

export interface ServeParts {
  readonly endpoint: HttpEndpoint;
  readonly upgrades: Upgrades | undefined;
  /** Called before the first request. */
  readonly start: () => Promise<void>;
  /** Lets work that no request waits for, such as the steps of tasks, finish beside the open calls. */
  readonly drain: ((options: { readonly drainMs: number }) => Promise<void>) | undefined;
  /** Called after the last request. */
  readonly stop: () => Promise<void>;
  readonly log: Logger;
}

/** The time for the lifespan to end after a signal. */
const STOP_MS = 3000;
/** Replies that were just finished are sent within this time; then their connections are closed. */
const LAST_REPLIES_MS = 100;

/**
 * The time that an unused connection stays open. A client may be busy between two pages of a large list and then use the connection
 * again, and load balancers expect to close connections themselves: most do so after 60 s.
 */
const IDLE_CONNECTION_MS = 75_000;

/** Listens, and at the end closes its parts in order. */
export async function serveOnNode(
  { endpoint, upgrades, start, drain, stop, log }: ServeParts,
  options: ServeOptions,
): Promise<Serving> {
  const {
    port = 3000,
    host = '127.0.0.1',
    tls,
    maxConnections,
    drainMs: drainOption = 5000,
    shutdownDelayMs: delayOption = 0,
    signals = true,
    exit = true,
  } = options;
  const drainMs = timerMs(drainOption);
  const shutdownDelayMs = timerMs(delayOption);
  const secure = tls && openTls(tls);
  // An offer of any other protocol than WebSocket is ignored. Node 24.9 and later ask before they detach a connection for it.
  const rules = { keepAliveTimeout: IDLE_CONNECTION_MS, shouldUpgradeCallback: isWebSocket };
  const https = secure && createHttpsServer({ ...secure.options, ...rules });
  const http: HttpServer = https ?? createHttpServer(rules);
  http.on('request', (req, res) => endpoint.handle(new NodeIncoming(req, res), ignore));
  // Above a limit of its own, Node drops headers silently, an Origin among them. The limit of their total length still applies.
  http.maxHeadersCount = 0;
  http.on('upgrade', (req, socket, head) => {
    if (!isWebSocket(req)) serveAsHttp(http, req, { socket, head });
    else if (upgrades === undefined) refuse(socket, '426 Upgrade Required');
    else upgrades.handle(req, socket, head);
  });
  if (maxConnections !== undefined) http.maxConnections = maxConnections;

  let resolveClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  let unwatch: (() => void) | undefined;
  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= shutDown().finally(() => {
      ignoreSignals?.();
      resolveClosed();
    });
    return closing;
  }

  async function shutDown(): Promise<void> {
    // A signal may come before the server listens.
    await starting.catch(() => undefined);
    unwatch?.();
    endpoint.leave();
    if (http.listening && shutdownDelayMs > 0) await delay(shutdownDelayMs);
    // Requests that are here already are read before idle connections are closed.
    else for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => nextTurn(resolve));
    const stopping = new Promise<void>((resolve) => http.close(() => resolve()));
    http.closeIdleConnections();
    const stopSweeping = every(LAST_REPLIES_MS, () => http.closeIdleConnections(), { unref: false });
    const drained = await Promise.allSettled([
      endpoint.close({ deadlineMs: drainMs }),
      upgrades?.close({ deadlineMs: drainMs }),
      drain?.({ drainMs }),
    ]);
    for (const end of drained) if (end.status === 'rejected') log('error', 'The shutdown failed', end.reason);
    const last = setTimeout(() => http.closeAllConnections(), LAST_REPLIES_MS);
    await stopping;
    stopSweeping();
    clearTimeout(last);
    await stop();
  }

  const starting = start();
  const closeMs = shutdownDelayMs + drainMs + STOP_MS;
  const onFailure = (error: unknown): void => log('error', 'The server could not be closed', error);
  const ignoreSignals = signals
    ? onSignals({ close, exit, drainMs: shutdownDelayMs + drainMs, closeMs, onFailure })
    : undefined;
  try {
    await starting;
    if (closing === undefined) await listen(http, port, host);
  } catch (error) {
    // The parts of the server that have started are closed again: no request will come.
    await close().catch(onFailure);
    throw error;
  }
  if (closing !== undefined) {
    await closing;
    endUnserved(exit);
  }
  unwatch = https && secure?.watch(https, (message) => log('warning', message));
  const address = http.address() as AddressInfo;
  const url = urlOf(options, address.port);
  return { url, port: address.port, close, closed, [Symbol.asyncDispose]: close };
}

/** Listens on a port, or throws an error that says what to do. */
function listen(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, port, host));
    http.once('error', onError);
    http.listen(port, host, () => {
      http.off('error', onError);
      resolve();
    });
  });
}

// Most programs await this at their top level, where Node prints the whole error with its cause. Only the message and the code
// are useful: the stack shows Node's own functions, and the cause repeats the message.
function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const sentence = listenFailures[error.code ?? '']?.(port, host);
  if (sentence === undefined) return error;
  const clear = new Error(sentence);
  clear.stack = `${clear.name}: ${sentence}`;
  return Object.defineProperty(clear, 'code', { value: error.code });
}

const listenFailures: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is taken. Choose another with PORT or { port }.`,
  EACCES: (port) => `Port ${port} is not allowed for this user. Choose one above 1023 with PORT or { port }.`,
  EADDRNOTAVAIL: (_, host) =>
    `This machine does not have the address ${host}. Choose another with MCP_HOST or { host }.`,
  ENOTFOUND: (_, host) => `The host ${host} cannot be resolved. Choose another with MCP_HOST or { host }.`,
};

/** The address to connect to. */
export function urlOf(
  { publicUrl, host = '127.0.0.1', path = '/mcp', tls }: ServeOptions,
  port: number,
): string {
  const displayHost = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host) ? 'localhost' : host;
  return publicUrl ?? `${tls === undefined ? 'http' : 'https'}://${displayHost}:${port}${path}`;
}

function ignore(): void {
  // Nothing waits for the end of a request.
}
