// The names of all options and fields that connecting accepts, to find misspelt ones.

import { callKeys, clientKeys } from '../../client/checks/option-keys.js';
import type { KeysOf } from '../../protocol/checks/known-keys.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { ConnectOptions, OneShotOptions } from './options.js';
import type { Address } from './target.js';

/** The options that say how every link is opened: `connect`, `proxy` and `gateway` have them. */
export const linkKeys: KeysOf<
  Pick<
    ConnectOptions,
    | 'connectTimeoutMs'
    | 'probeTimeoutMs'
    | 'revision'
    | 'knownServers'
    | 'WebSocket'
    | 'stderr'
    | 'fetch'
    | 'maxMessageBytes'
    | 'proxy'
    | 'lookup'
  >
> = {
  connectTimeoutMs: true,
  probeTimeoutMs: true,
  revision: true,
  knownServers: true,
  WebSocket: true,
  stderr: true,
  fetch: true,
  maxMessageBytes: true,
  proxy: true,
  lookup: true,
};

/** The options about one server: `connect` and `proxy` have them, and the entries in the config of a gateway. */
export const credentialKeys: KeysOf<Pick<ConnectOptions, 'headers' | 'auth' | 'ca' | 'cert' | 'key'>> = {
  headers: true,
  auth: true,
  ca: true,
  cert: true,
  key: true,
};

export const connectKeys: KeysOf<ConnectOptions> = {
  ...clientKeys,
  ...linkKeys,
  ...credentialKeys,
  signal: true,
  known: true,
};

export const oneShotKeys: KeysOf<OneShotOptions> = { ...connectKeys, ...callKeys };

export const processKeys: KeysOf<ServerProcess> = {
  command: true,
  args: true,
  env: true,
  cwd: true,
  stderr: true,
};

export const addressKeys: KeysOf<Address> = { url: true, headers: true };

/** The options that a table has. No other option is passed on. */
export function pickOptions<Options extends object, Key extends keyof Options>(
  options: Options,
  keys: Readonly<Record<Key, true>>,
): Pick<Options, Key> {
  const own = Object.entries(options).filter(([key]) => Object.hasOwn(keys, key));
  return Object.fromEntries(own) as Pick<Options, Key>;
}
