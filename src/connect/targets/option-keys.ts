// The names of all options and fields that connecting accepts, to find misspelt ones.

import { callKeys, clientKeys } from '../../client/checks/option-keys.js';
import type { KeysOf } from '../../protocol/checks/known-keys.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { ConnectOptions, OneShotOptions } from './options.js';
import type { Address } from './target.js';

export const connectKeys: KeysOf<ConnectOptions> = {
  ...clientKeys,
  signal: true,
  connectTimeoutMs: true,
  probeTimeoutMs: true,
  revision: true,
  known: true,
  knownServers: true,
  WebSocket: true,
  stderr: true,
  fetch: true,
  headers: true,
  auth: true,
  maxMessageBytes: true,
  ca: true,
  cert: true,
  key: true,
  proxy: true,
  lookup: true,
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
