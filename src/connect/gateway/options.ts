import type { Auth, Middleware } from '../../protocol/call.js';
import { type OptionTable, readOptions, type WithDefaults } from '../../protocol/checks/options.js';
import { type CodeOptions, codeTable } from '../../protocol/code/code-options.js';
import { type SearchOptions, searchTable } from '../../protocol/model/search/options.js';
import {
  connectionTable,
  type Identity,
  type ProxyLogger,
  type ProxyOptions,
  type poolTable,
} from '../proxy/options.js';
import { type PinOptions, pinTable } from './pins/options.js';

/** One thing that a server of a gateway offers. */
export interface GatewayItem {
  /** The name of the server in the config. */
  readonly server: string;
  /** The kind of thing. */
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template' | 'event';
  /** The name that the server itself uses; the URI of a resource, or that of a template. */
  readonly name: string;
}

/** Decides whether a caller may see and use something. Hidden things cannot be called either. */
export type GatewayRule = (item: GatewayItem, caller: Auth | undefined) => boolean | Promise<boolean>;

/** When a gateway stops calling a server that fails. */
export interface GatewayBreaker {
  /** The number of failures in a row after which calls are refused at once. Default: 5. */
  readonly failures?: number | undefined;
  /** The time for which they are refused, in milliseconds, until one call tries again. Default: 10 s. */
  readonly openMs?: number | undefined;
}

/** The options of `gateway`: its own, and those of the connections to every server. */
export interface GatewayOptions
  extends Pick<
    ProxyOptions,
    | 'maxConnections'
    | 'idleMs'
    | 'answerMs'
    | 'connectTimeoutMs'
    | 'probeTimeoutMs'
    | 'revision'
    | 'knownServers'
    | 'WebSocket'
    | 'stderr'
    | 'maxMessageBytes'
    | 'proxy'
    | 'lookup'
    | 'fetch'
  > {
  /** The name of the gateway, as its callers see it. Default: `gateway`. */
  readonly name?: string;
  /** The version of the gateway. Default: `1`. */
  readonly version?: string;
  /** Advice for models, before that of the servers. Default: none. */
  readonly instructions?: string;
  /** As whom the gateway calls a server: for all of them, or by the name of the server. Default: `drop`. */
  readonly identity?: Identity | Readonly<Record<string, Identity>>;
  /** Middleware for all calls, with the names that callers use; the first outermost. Default: none. */
  readonly use?: readonly Middleware[];
  /** Decides what a caller sees and may use. Default: everything. */
  readonly allow?: GatewayRule;
  /** Compares what the servers offer with a lock file. Default: nothing is compared. */
  readonly pins?: PinOptions;
  /** Lists `search_tools` and `call_tool` in place of all tools, so that a model does not have to read them. Default: all tools are listed. */
  readonly search?: boolean | SearchOptions;
  /**
   * Runs programs that models write, which call the tools of the servers: `{ engine: quickjs() }` of `fullmcp/code`. Lists `search_tools`
   * and `run_code` in place of all tools; with `search: false`, all tools beside `run_code`. Default: none.
   */
  readonly code?: CodeOptions;
  /** Stops calling a server that fails. `false`: never. Default: after 5 failures in a row, for 10 s. */
  readonly breaker?: GatewayBreaker | false;
  /** The interval at which connected servers are asked whether they are there, in milliseconds; 0 for never. Default: 30 s. */
  readonly healthMs?: number;
  /** The interval at which the config file is looked at, in milliseconds. Default: it is read once, and again with `reload()`. */
  readonly watchMs?: number;
  /** The longest time that a list waits for one server, in milliseconds. Then it is made without it. Default: 20 s. */
  readonly listTimeoutMs?: number;
  /** The time that open calls of a removed server have to end, in milliseconds. Default: 30 s. */
  readonly drainMs?: number;
  /** Receives messages for the operator of the gateway. Default: lines on standard error. */
  readonly logger?: ProxyLogger;
}

const optionTable = {
  ...connectionTable,
  name: { is: 'string', default: 'gateway' },
  version: { is: 'string', default: '1' },
  instructions: 'string',
  identity: { is: 'any', default: 'drop' },
  use: 'array',
  allow: 'function',
  pins: { is: 'object', options: pinTable },
  search: { is: ['boolean', 'object'], options: searchTable },
  code: { is: 'object', options: codeTable },
  breaker: {
    is: 'object',
    oneOf: [false],
    options: { failures: { is: 'count', default: 5 }, openMs: { is: 'count', default: 10_000 } },
    default: {},
  },
  healthMs: { is: 'timer', default: 30_000 },
  watchMs: { is: 'ms', min: 10, max: 86_400_000 },
  listTimeoutMs: { is: 'timer', default: 20_000 },
  drainMs: { is: 'timer', default: 30_000 },
  logger: 'function',
} as const satisfies OptionTable<GatewayOptions>;

/** The options of a gateway with their defaults. */
export type GatewaySettings = WithDefaults<
  GatewayOptions,
  | keyof typeof poolTable
  | 'name'
  | 'version'
  | 'identity'
  | 'breaker'
  | 'healthMs'
  | 'listTimeoutMs'
  | 'drainMs'
>;

/** Checks the options of a gateway and fills in the defaults. */
export function readGatewayOptions(options: GatewayOptions): GatewaySettings {
  return readOptions('gateway', options, optionTable);
}
