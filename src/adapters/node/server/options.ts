import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import process from 'node:process';
import { foreignHandlerNames, handlerKeys } from '../../../legacy/server/http/handler-keys.js';
import type { SessionOptions } from '../../../legacy/server/http/sessions.js';
import type { Authenticate } from '../../../protocol/caller.js';
import { checkOptions, type KeysOf } from '../../../protocol/checks/known-keys.js';
import type { AuthProvider } from '../../../state/auth-provider.js';
import type { HttpOptions } from '../../../transports/http/server/endpoint.js';
import { checkPublicUrl, unsafeAnyHost } from '../../../transports/http/server/guard.js';
import { checkPath } from '../../../transports/http/server/routes.js';
import { type WebSocketOptions, webSocketKeys } from '../../../transports/websocket/accept.js';
import type { TlsOptions } from './tls.js';

/** The options of `serve`. An option takes precedence over its environment variable. */
export interface ServeOptions extends HttpOptions, SessionOptions {
  /** Whether clients that speak protocol revision 2025-11-25 or older are served. Default: true. */
  readonly sessions?: boolean;
  /**
   * Identifies the caller before the body of a request, or a message of a WebSocket, is read: a provider of `fullmcp/auth`, or a
   * function of the request. The caller is in `ctx.auth`, and tasks and sessions belong to it. If the promise takes longer than
   * 30 s, the request is refused with 503. Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<IncomingMessage> | undefined;
  /** The port to listen on; 0 for any free one. Default: `PORT`, then 3000. */
  readonly port?: number;
  /** The name or address to listen on. Default: `MCP_HOST`, then 127.0.0.1, which only this machine can reach. */
  readonly host?: string;
  /** The certificate and key: PEM text, or paths of files. Default: none, and the server speaks plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /**
   * The number of worker processes that serve together on this machine, or `auto` for one per processor. The program runs once in
   * each of them, and once in a primary process, which replaces workers that end. The workers share a secret and, without
   * `cluster`, the bus, the event log and a store in memory. Default: `MCP_WORKERS`, then this process alone.
   */
  readonly workers?: number | 'auto';
  /**
   * The number of sockets that may be open at the same time; further ones are closed at once. Default: `MCP_MAX_CONNECTIONS`,
   * then no limit.
   */
  readonly maxConnections?: number;
  /**
   * The limits of WebSocket connections on the endpoint's path, or `false` to refuse them with 426. Default: they are
   * accepted.
   */
  readonly websocket?: false | WebSocketOptions;
  /**
   * The time for which the server still serves when it is to close, while `/ready` replies with 503. It has to be as long as a
   * balancer needs to notice. Default: `MCP_SHUTDOWN_DELAY_MS`, then 0.
   */
  readonly shutdownDelayMs?: number;
  /** The time for open calls and steps of tasks to finish when the server closes. Default: 5 s. */
  readonly drainMs?: number;
  /** Whether SIGTERM and SIGINT close the server. Default: true. */
  readonly signals?: boolean;
  /** Whether the process exits after such a signal, even if a handler does not end. Default: true. */
  readonly exit?: boolean;
}

const serveKeys = {
  ...handlerKeys,
  port: true,
  host: true,
  tls: true,
  workers: true,
  maxConnections: true,
  websocket: true,
  shutdownDelayMs: true,
  drainMs: true,
  signals: true,
  exit: true,
} satisfies KeysOf<ServeOptions>;

const foreignNames = { ...foreignHandlerNames, hostname: 'host', https: 'tls' };

/** Throws an error that names every unknown option. */
export function checkServeOptions(options: ServeOptions): void {
  checkOptions('serve', options, serveKeys, foreignNames);
  if (options.websocket) checkOptions('serve: websocket', options.websocket, webSocketKeys);
  const { port, workers } = options;
  if (workers !== undefined && workers !== 'auto' && !(Number.isSafeInteger(workers) && workers >= 1))
    throw new RangeError(
      `serve: "workers" must be "auto" or a whole number, 1 or more, not ${String(workers)}.`,
    );
  if (port !== undefined && !isPort(port))
    throw new RangeError(`serve: "port" must be an integer from 0 to 65535, not ${String(port)}.`);
}

/** Completes the options from the environment. */
export function withEnvironment(options: ServeOptions, env: NodeJS.ProcessEnv = process.env): ServeOptions {
  return {
    ...fromEnvironment('port', 'PORT', portNumber),
    ...fromEnvironment('host', 'MCP_HOST', asIs),
    ...fromEnvironment('path', 'MCP_PATH', path),
    ...fromEnvironment('publicUrl', 'MCP_PUBLIC_URL', url),
    ...fromEnvironment('secret', 'MCP_SECRET', asIs),
    ...fromEnvironment('allowedHosts', 'MCP_ALLOWED_HOSTS', list),
    ...fromEnvironment('allowedOrigins', 'MCP_ALLOWED_ORIGINS', list),
    ...fromEnvironment('workers', 'MCP_WORKERS', workerCount),
    ...fromEnvironment('maxConnections', 'MCP_MAX_CONNECTIONS', wholeNumber),
    ...fromEnvironment('maxBodyBytes', 'MCP_MAX_BODY_BYTES', wholeNumber),
    ...fromEnvironment('requestTimeoutMs', 'MCP_REQUEST_TIMEOUT_MS', wholeNumber),
    ...fromEnvironment('shutdownDelayMs', 'MCP_SHUTDOWN_DELAY_MS', wholeNumber),
    ...fromEnvironment('trustProxy', 'MCP_TRUST_PROXY', proxies),
    ...definedOnly(options),
  };

  function fromEnvironment<T>(
    option: keyof ServeOptions,
    name: string,
    read: (value: string, name: string) => T,
  ): Record<string, T> {
    const value = env[name];
    // A variable that an option replaces is not read, so that it cannot be wrong either.
    if (value === undefined || value === '' || options[option] !== undefined) return {};
    return { [option]: read(value, name) };
  }
}

/** Allows the host name that the server listens on. An IP address need not be added: it is allowed where it can be reached. */
export function withOwnHost(options: ServeOptions): ServeOptions {
  const { host, allowedHosts = [] } = options;
  if (host === undefined || isIP(host) !== 0 || allowedHosts === unsafeAnyHost) return options;
  return { ...options, allowedHosts: [...allowedHosts, host] };
}

function asIs(value: string): string {
  return value;
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function proxies(value: string): number | string[] {
  return /^\d+$/.test(value) ? Number(value) : list(value);
}

function path(value: string, name: string): string {
  checkPath(value, `The environment variable ${name}`);
  return value;
}

function url(value: string, name: string): string {
  checkPublicUrl(value, `The environment variable ${name}`);
  return value;
}

function portNumber(value: string, name: string): number {
  const port = wholeNumber(value, name);
  if (isPort(port)) return port;
  throw new RangeError(`The environment variable ${name} must be a port from 0 to 65535, but it is ${port}.`);
}

function workerCount(value: string, name: string): number | 'auto' {
  return value === 'auto' ? value : wholeNumber(value, name);
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
}

function wholeNumber(value: string, name: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new RangeError(
      `The environment variable ${name} must be a whole number, 0 or more, but it is ${JSON.stringify(value)}.`,
    );
  }
  return number;
}

function definedOnly(options: ServeOptions): ServeOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
