import type { KeysOf } from '../../protocol/checks/known-keys.js';
import type { ToolCallOptions } from '../model/client.js';
import type { CallOptions, ClientOptions } from '../model/options.js';

// The names of all options. In JavaScript, a misspelt option is otherwise ignored: a timeout that never fires, a handler that is
// never called.

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
  extensions: true,
  experimental: true,
  caller: true,
  onLog: true,
  progress: true,
  reconnect: true,
  cache: true,
  maxRounds: true,
  maxRetries: true,
};

/** Every option of a call. */
export const callKeys: KeysOf<CallOptions & ToolCallOptions> = {
  signal: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  onProgress: true,
  onLog: true,
  logLevel: true,
  fresh: true,
  meta: true,
  idempotencyKey: true,
};

export type Keys = Readonly<Record<string, true>>;

/** The options that are numbers. */
export const limits: readonly string[] = [
  'timeoutMs',
  'maxTimeoutMs',
  'maxRounds',
  'maxRetries',
  'connectTimeoutMs',
  'probeTimeoutMs',
  'maxMessageBytes',
];

export function isLimit(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0);
}

export function hasUnknown(options: object, keys: Keys): boolean {
  for (const key in options) if (keys[key] !== true) return true;
  return false;
}
