/// <reference lib="esnext.disposable" preserve="true" />
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { timerMs } from '../../../protocol/checks/number-options.js';
import type { HttpEndpoint } from '../../../transports/http/server/endpoint.js';
import { NodeIncoming } from './incoming.js';
import { listen } from './listen.js';
import type { ServeOptions } from './options.js';
import { isWebSocket, serveAsHttp } from './other-protocols.js';
import { openTls } from './tls.js';
import { refuse, type Upgrades } from './upgrades.js';

/** A server that listens. */
export interface Serving extends AsyncDisposable {
  /** The address to connect to: `publicUrl`, or one made of host, port and path. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /**
   * Stops listening, ends subscriptions, lets open calls finish for `drainMs`, and then closes the server that was passed to
   * `serve`.
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
  readonly warn: (message: string) => void;
}

/** The time for the lifespan to end after a signal. */
const STOP_MS = 3000;
/** The time for the program to exit by itself when everything is closed. */
const EXIT_MS = 500;
/** Signals within this time count as one: a terminal, a shell and npm may each pass on the same signal. */
const ONE_SIGNAL_MS = 1000;

/** Listens, and at the end closes its parts in order. */
export async function serveOnNode(
  { endpoint, upgrades, start, drain, stop, warn }: ServeParts,
  options: ServeOptions,
): Promise<Serving> {
  const {
    port = 3000,
    host = '127.0.0.1',
    tls,
    maxConnections,
    drainMs: drainOption = 5000,
    signals = true,
    exit = true,
  } = options;
  const drainMs = timerMs('drainMs', drainOption);
  const secure = tls && openTls(tls);
  await start();
  const https = secure && createHttpsServer(secure.options);
  const http: HttpServer = https ?? createHttpServer();
  http.on('request', (req, res) => endpoint.handle(new NodeIncoming(req, res), ignore));
  // Above a limit of its own, Node drops headers silently, an Origin among them. The limit of their total length still applies.
  http.maxHeadersCount = 0;
  http.on('upgrade', (req, socket, head) => {
    if (!isWebSocket(req)) serveAsHttp(http, req, { socket, head });
    else if (upgrades === undefined) refuse(socket, '426 Upgrade Required');
    else upgrades.handle(req, socket, head);
  });
  if (maxConnections !== undefined) http.maxConnections = maxConnections;
  await listen(http, port, host).catch(async (error: unknown) => {
    // The lifespan was opened for requests that will not come, so it is closed again.
    await stop();
    throw error;
  });

  const unwatch = https && secure.watch(https, warn);

  const address = http.address() as AddressInfo;
  const url = urlOf(options, address.port);

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= shutDown().finally(ignoreSignals);
    return closing;
  }

  async function shutDown(): Promise<void> {
    unwatch?.();
    const stopping = new Promise<void>((resolve) => http.close(() => resolve()));
    http.closeIdleConnections();
    await Promise.all([
      endpoint.close({ deadlineMs: drainMs }),
      upgrades?.close({ deadlineMs: drainMs }),
      drain?.({ drainMs }),
    ]);
    // Replies that were just finished are sent before their connections are closed.
    setTimeout(() => http.closeAllConnections(), 100).unref();
    await stopping;
    await stop();
    resolveClosed();
  }

  let resolveClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  const names = signals ? (['SIGTERM', 'SIGINT'] as const) : [];
  for (const signal of names) process.on(signal, onSignal);
  function ignoreSignals(): void {
    for (const signal of names) process.off(signal, onSignal);
  }

  // A handler that ignores its signal, or a lifespan that does not end, must not keep the process running. The process
  // does not exit before the drain time is over, because another server in it may still be draining.
  let signalledAt: number | undefined;
  function onSignal(signal: NodeJS.Signals): void {
    if (signalledAt !== undefined) return onRepeatedSignal(signal, signalledAt);
    signalledAt = performance.now();
    const drainEnd = performance.now() + drainMs;
    if (exit) exitAfter(drainMs + STOP_MS);
    void close().then(() => exit && exitAfter(Math.max(0, drainEnd - performance.now()) + EXIT_MS));
  }

  // A second signal after a while means that the user does not want to wait.
  function onRepeatedSignal(signal: NodeJS.Signals, firstAt: number): void {
    if (performance.now() - firstAt < ONE_SIGNAL_MS) return;
    ignoreSignals();
    process.kill(process.pid, signal);
  }

  return { url, port: address.port, close, closed, [Symbol.asyncDispose]: close };
}

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

// A process that has nothing left to do exits earlier.
function exitAfter(ms: number): void {
  setTimeout(() => process.exit(), timerMs('drainMs', ms)).unref();
}
