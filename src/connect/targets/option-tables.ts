// The options that connecting accepts.

import { callTable, clientTable } from '../../client/checks/option-tables.js';
import type { OptionTable } from '../../protocol/checks/options.js';
import type { ConnectOptions, OneShotOptions } from './options.js';

/** The options that say how every link is opened: `connect`, `proxy` and `gateway` have them. */
export const linkTable = {
  connectTimeoutMs: 'number',
  probeTimeoutMs: 'number',
  revision: 'string',
  knownServers: 'any',
  WebSocket: 'any',
  stderr: 'any',
  fetch: 'function',
  maxMessageBytes: 'number',
  proxy: 'any',
  lookup: 'function',
} as const;

/** The options about one server: `connect` and `proxy` have them, and the entries in the config of a gateway. */
export const credentialTable = { headers: 'any', auth: 'any', ca: 'any', cert: 'any', key: 'any' } as const;

export const connectTable: OptionTable<ConnectOptions> = {
  ...clientTable,
  ...linkTable,
  ...credentialTable,
  signal: 'any',
  known: 'any',
};

export const oneShotTable: OptionTable<OneShotOptions> = { ...connectTable, ...callTable };

/** The options that a table has. No other option is passed on. */
export function pickOptions<Options extends object, Key extends keyof Options>(
  options: Options,
  table: Readonly<Record<Key, unknown>>,
): Pick<Options, Key> {
  const own = Object.entries(options).filter(([key]) => Object.hasOwn(table, key));
  return Object.fromEntries(own) as Pick<Options, Key>;
}
