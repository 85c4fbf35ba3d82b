import type { KeysOf } from '../protocol/known-keys.js';
import type { ClientOptions } from './options.js';

/** Every option of a client, whatever it is connected to. */
export const clientKeys: KeysOf<ClientOptions> = {
  elicit: true,
  sample: true,
  roots: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  logLevel: true,
  client: true,
  use: true,
  as: true,
  log: true,
  progress: true,
  reconnect: true,
  cache: true,
  maxRounds: true,
  maxRetries: true,
};
