import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { foreignHandlerNames, ownTable } from '../../../legacy/server/http/handler-options.js';
import { type SessionOptions, sessionOptionTable } from '../../../legacy/server/http/sessions.js';
import type { Authenticate } from '../../../protocol/caller.js';
import { checkOptions, type OptionTable } from '../../../protocol/checks/options.js';
import { type LogLevel, logLevels } from '../../../protocol/tables/log-level.js';
import type { LogFormat } from '../../../protocol/telemetry/log-settings.js';
import type { AuthProvider } from '../../../state/auth-provider.js';
import { type HttpOptions, httpTable } from '../../../transports/http/server/endpoint.js';
import { unsafeAnyHost } from '../../../transports/http/server/guard.js';
import { type WebSocketOptions, webSocketTable } from '../../../transports/websocket/accept.js';
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

// Environment variables and the config file come before the defaults, which are filled in where the options are used.
const optionTable = {
  ...httpTable,
  ...sessionOptionTable,
  ...ownTable,
  config: 'string',
  secretFile: 'string',
  clusterUrl: 'string',
  logLevel: { oneOf: logLevels },
  logFormat: { oneOf: ['json', 'text'] },
  port: { is: 'count', min: 0, max: 65_535 },
  host: 'string',
  tls: 'any',
  workers: { is: 'count', oneOf: ['auto'] },
  maxConnections: 'number',
  websocket: { is: 'object', oneOf: [false], options: webSocketTable },
  shutdownDelayMs: 'timer',
  drainMs: 'timer',
  signals: 'boolean',
  exit: 'boolean',
} as const satisfies OptionTable<ServeOptions>;

const foreignNames = { ...foreignHandlerNames, hostname: 'host', https: 'tls' };

/** Throws an error that names every unknown option. */
export function checkServeOptions(options: ServeOptions): void {
  checkOptions('serve', options, optionTable, foreignNames);
}

/** Allows the host name that the server listens on. An IP address need not be added: it is allowed where it can be reached. */
export function withOwnHost(options: ServeOptions): ServeOptions {
  const { host, allowedHosts = [] } = options;
  if (host === undefined || isIP(host) !== 0 || allowedHosts === unsafeAnyHost) return options;
  return { ...options, allowedHosts: [...allowedHosts, host] };
}
