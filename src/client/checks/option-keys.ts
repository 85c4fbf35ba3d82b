import type { KeysOf } from '../../protocol/checks/known-keys.js';
import type { ToolCallOptions } from '../model/client.js';
import type { CallOptions, ClientOptions } from '../model/options.js';

// In JavaScript nobody else notices an option that is misspelt: a time limit that is none, a handler that is never called.

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

export function hasUnknown(given: object, known: Keys): boolean {
  for (const key in given) if (known[key] !== true) return true;
  return false;
}

/** Throws one error with everything that is wrong with the options of `connect`. */
export async function checkOptionsOf(what: string, given: unknown, known: Keys): Promise<void> {
  if (!looksOdd(given, known)) return;
  const { checkConnectOptions } = await import('./option-mistakes.js');
  checkConnectOptions(what, given, known);
}

/** Whether it is worth a closer look, which loads more than it finds out here. */
function looksOdd(given: unknown, known: Keys): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || hasUnknown(given, known))
    return true;
  const options = given as Readonly<Record<string, unknown>>;
  const { elicit, sample, roots, reconnect, use } = options;
  const isOdd = (value: unknown, type: string): boolean => value !== undefined && typeof value !== type;
  return (
    isOdd(elicit, 'function') ||
    isOdd(sample, 'function') ||
    isOdd(reconnect, 'boolean') ||
    (isOdd(roots, 'function') && !Array.isArray(roots)) ||
    use !== undefined ||
    !limits.every((name) => isLimit(options[name]))
  );
}
