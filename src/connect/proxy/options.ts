import type { Auth, Call, Middleware } from '../../protocol/call.js';
import { type OptionTable, readOptions, type WithDefaults } from '../../protocol/checks/options.js';
import type { ClientAuth } from '../../protocol/model/client-auth.js';
import { type SearchOptions, searchTable } from '../../protocol/model/search/options.js';
import type { HeaderValues, HttpLinkOptions } from '../../transports/http/client/options.js';
import { credentialTable, linkTable } from '../targets/option-tables.js';
import type { ConnectOptions } from '../targets/options.js';

/** Receives messages for the operator of a proxy. */
export type ProxyLogger = (level: 'info' | 'warning' | 'error', message: string, detail?: unknown) => void;

/** The credentials with which a proxy calls its server on behalf of one caller. */
export interface ForwardedIdentity {
  /** Names the caller among all others. Callers with the same key share connections, and nobody else does. */
  readonly key: string;
  /** Headers for the requests of this caller. They replace those of the same name in the options. */
  readonly headers?: HeaderValues | undefined;
  /** Authorizes the requests of this caller, in place of `auth` in the options: `exchangeToken` of `fullmcp/oauth` makes one. */
  readonly auth?: ClientAuth | undefined;
  /** The caller that a server in the same process sees. */
  readonly caller?: Auth | undefined;
}

/** The login that a caller lacks. */
export interface RequiredLogin {
  /** The page on which the user logs in, as the user is asked to open it. */
  readonly login: {
    /** The URL. It must not contain anything about the user, and the page must make sure that this user has opened it. */
    readonly url: string;
    /** The sentence for the user. */
    readonly message: string;
  };
}

/** The progress of a login. */
export interface LoginProgress {
  /** Whether the user has agreed to open the page. The function may wait for the login then, until `call.signal` aborts. */
  readonly accepted: boolean;
}

/** The result of a function of `identity`. */
export type Identified = ForwardedIdentity | RequiredLogin | undefined;

/**
 * Decides as whom a proxy calls its server. `drop`: as the proxy itself, whoever calls. `pass`: with the caller's own `Authorization`
 * header; only for a server that accepts tokens that were issued for the proxy. A function returns the credentials of a caller, or
 * undefined for those of the proxy, and throws to refuse the call. If it returns a login, the user is asked to open its URL, and the
 * function is called again with the answer. Until then, lists are those that the proxy itself sees.
 */
export type Identity =
  | 'drop'
  | 'pass'
  | ((call: Call, progress: LoginProgress) => Identified | Promise<Identified>);

/** The options of `proxy`: those of the connection to the server, and those of the proxy itself. */
export interface ProxyOptions
  extends HttpLinkOptions,
    Pick<
      ConnectOptions,
      'connectTimeoutMs' | 'probeTimeoutMs' | 'revision' | 'knownServers' | 'WebSocket' | 'stderr'
    > {
  /** As whom the proxy calls the server. Default: `drop`. */
  readonly identity?: Identity;
  /** Middleware for all calls, the first outermost. Default: none. */
  readonly use?: readonly Middleware[];
  /** Lists `search_tools` and `call_tool` in place of all tools, so that a model does not have to read them. Default: all tools are listed. */
  readonly search?: boolean | SearchOptions;
  /** Receives messages for the operator of the proxy. Default: lines on standard error. */
  readonly logger?: ProxyLogger;
  /**
   * The number of connections to the server. A server of 2026-07-28 has one for each identity, an older one has one for each caller or
   * session, and one caller has at most half of those that others leave. If there are too many, one that is not used is closed; if all
   * are used, calls fail with `overloaded`. Default: 100.
   */
  readonly maxConnections?: number;
  /** The time after which an unused connection is closed, in milliseconds. Default: 5 minutes. */
  readonly idleMs?: number;
  /**
   * The time for which a call to an older server waits for the caller's answers, in milliseconds. Then the call is cancelled.
   * Default: 10 minutes.
   */
  readonly answerMs?: number;
}

/** The table of the options that a proxy adds to those of its connections. A gateway has them as well. */
export const poolTable = {
  maxConnections: { is: 'count', default: 100 },
  idleMs: { is: 'timer', default: 300_000 },
  answerMs: { is: 'timer', default: 600_000 },
} as const;

/** The options of the connections behind a proxy: a gateway has them as well, and passes them and no others on to every connection. */
export const connectionTable: typeof linkTable & typeof poolTable = { ...linkTable, ...poolTable };

const optionTable = {
  ...connectionTable,
  ...credentialTable,
  identity: { is: 'function', oneOf: ['drop', 'pass'], default: 'drop' },
  use: 'array',
  search: { is: ['boolean', 'object'], options: searchTable },
  logger: 'function',
} as const satisfies OptionTable<ProxyOptions>;

/** The options of a proxy with their defaults. */
export type FilledProxyOptions = WithDefaults<ProxyOptions, keyof typeof poolTable | 'identity'>;

/** Checks the options of a proxy and fills in the defaults, before any connection is opened. */
export function readProxyOptions(options: ProxyOptions): FilledProxyOptions {
  return readOptions('proxy', options, optionTable);
}
