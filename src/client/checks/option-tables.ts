import type { AnyTable, OptionTable } from '../../protocol/checks/options.js';
import type { ToolCallOptions } from '../model/client.js';
import type { CallOptions, ClientOptions } from '../model/options.js';

// The options of a client and of its calls. In JavaScript, a misspelt option is otherwise ignored: a timeout that never fires, a handler that is
// never called.

/** Every option of a client, whatever it is connected to. */
export const clientTable: OptionTable<ClientOptions> = {
  elicit: ['function', 'object'],
  sample: ['function', 'object'],
  roots: ['function', 'array', 'object'],
  timeoutMs: 'number',
  maxTimeoutMs: 'number',
  logLevel: 'any',
  client: 'any',
  use: 'array',
  extensions: 'array',
  experimental: 'object',
  caller: 'any',
  onLog: 'any',
  progress: 'any',
  reconnect: ['boolean', 'object'],
  cache: 'any',
  maxRounds: 'number',
  maxRetries: 'number',
};

/** Every option of a call. */
export const callTable: OptionTable<CallOptions & ToolCallOptions> = {
  signal: 'any',
  timeoutMs: 'number',
  maxTimeoutMs: 'number',
  onProgress: 'any',
  onLog: 'any',
  logLevel: 'any',
  fresh: 'any',
  meta: 'any',
  idempotencyKey: 'any',
};

export function isLimit(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0);
}

export function hasUnknown(options: object, table: AnyTable): boolean {
  for (const key in options) if (!Object.hasOwn(table, key)) return true;
  return false;
}
