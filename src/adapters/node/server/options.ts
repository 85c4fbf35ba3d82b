import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { foreignHandlerNames, handlerKeys } from '../../../legacy/server/http/handler-keys.js';
import type { SessionOptions } from '../../../legacy/server/http/sessions.js';
import type { Authenticate } from '../../../protocol/caller.js';
import { checkOptions, type KeysOf } from '../../../protocol/checks/known-keys.js';
import { isLogLevel, type LogLevel } from '../../../protocol/tables/log-level.js';
import { isLogFormat, type LogFormat } from '../../../protocol/telemetry/log-settings.js';
import type { AuthProvider } from '../../../state/auth-provider.js';
import type { HttpOptions } from '../../../transports/http/server/endpoint.js';
import { unsafeAnyHost } from '../../../transports/http/server/guard.js';
import { type WebSocketOptions, webSocketKeys } from '../../../transports/websocket/accept.js';
import type { TlsOptions } from './tls.js';

/** The options of `serve`. An option takes precedence over its environment variable, and that over the config file. */
export interface ServeOptions extends HttpOptions, SessionOptions {
  /** Whether clients that speak protocol revision 2025-11-25 or older are served. Default: true. */
  readonly sessions?: boolean;
  /**
   * Identifies the caller before the body of a request, or a message of a WebSocket, is read: a provider of `fullmcp/auth`, or a
   * function of the request. The caller is in `ctx.auth`, and tasks and sessions belong to it. If the promise takes longer than
   * 30 s, the request is refused with 503. Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<IncomingMessage> | undefined;
  /**
   * The path of a JSON file with further options, relative to the working directory. Its schema is `fullmcp/config.schema.json`.
   * Default: `MCP_CONFIG`, then none.
   */
  readonly config?: string | undefined;
  /**
   * The path of a file that has the secret, or several on lines of their own, instead of `secret`. Default: `MCP_SECRET_FILE`, then
   * none.
   */
  readonly secretFile?: string | undefined;
  /**
   * The URL of the engine that all processes share, if the server has no `cluster`. It begins with `postgres://`, `redis://` or
   * `nats://`. Default: `MCP_CLUSTER_URL`, then none.
   */
  readonly clusterUrl?: string | undefined;
  /**
   * The least severe level that is logged to standard error, by the server and by `logging()`. Messages to a `logger` of the server are
   * not affected. Default: `MCP_LOG_LEVEL`, then `info`.
   */
  readonly logLevel?: LogLevel | undefined;
  /**
   * The form of these messages: lines of JSON, or text for a person. Default: `MCP_LOG_FORMAT`, then `text` if standard error is a
   * terminal, otherwise `json`.
   */
  readonly logFormat?: LogFormat | undefined;
  /** The port to listen on; 0 for any free one. Default: `PORT`, then 3000. */
  readonly port?: number;
  /** The name or address to listen on. Default: `MCP_HOST`, then 127.0.0.1, which only this machine can reach. */
  readonly host?: string;
  /** The certificate and key: PEM text, or paths of files. Default: `MCP_TLS_CERT` and `MCP_TLS_KEY`, then none: plain HTTP. */
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
  /** The time for open calls and steps of tasks to finish when the server closes. Default: `MCP_DRAIN_MS`, then 5 s. */
  readonly drainMs?: number;
  /** Whether SIGTERM and SIGINT close the server. Default: true. */
  readonly signals?: boolean;
  /** Whether the process exits after such a signal, even if a handler does not end. Default: true. */
  readonly exit?: boolean;
}

const serveKeys = {
  ...handlerKeys,
  config: true,
  secretFile: true,
  clusterUrl: true,
  logLevel: true,
  logFormat: true,
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
  const { port, workers, logLevel, logFormat } = options;
  if (logLevel !== undefined && !isLogLevel(logLevel))
    throw new RangeError('serve: "logLevel" must be a level, from "debug" to "emergency".');
  if (logFormat !== undefined && !isLogFormat(logFormat))
    throw new RangeError('serve: "logFormat" must be "json" or "text".');
  if (workers !== undefined && workers !== 'auto' && !(Number.isSafeInteger(workers) && workers >= 1))
    throw new RangeError(
      `serve: "workers" must be "auto" or a whole number, 1 or more, not ${String(workers)}.`,
    );
  if (port !== undefined && !isPort(port))
    throw new RangeError(`serve: "port" must be an integer from 0 to 65535, not ${String(port)}.`);
}

/** Allows the host name that the server listens on. An IP address need not be added: it is allowed where it can be reached. */
export function withOwnHost(options: ServeOptions): ServeOptions {
  const { host, allowedHosts = [] } = options;
  if (host === undefined || isIP(host) !== 0 || allowedHosts === unsafeAnyHost) return options;
  return { ...options, allowedHosts: [...allowedHosts, host] };
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
}
