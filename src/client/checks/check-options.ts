import { hasUnknown, isLimit, type Keys, limits } from './option-keys.js';

// A quick check of the options of `connect`, small enough for every page.

/** Throws one error that lists all mistakes in the options of `connect`. */
export async function checkOptionsOf(functionName: string, value: unknown, keys: Keys): Promise<void> {
  if (!looksOdd(value, keys)) return;
  const { checkConnectOptions } = await import('./option-mistakes.js');
  checkConnectOptions(functionName, value, keys);
}

/** Whether the options may have a mistake. Finding out which one loads more code. */
function looksOdd(value: unknown, keys: Keys): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasUnknown(value, keys))
    return true;
  const options = value as Readonly<Record<string, unknown>>;
  const { elicit, sample, roots, reconnect, use, extensions, experimental } = options;
  const isOdd = (value: unknown, type: string): boolean => value !== undefined && typeof value !== type;
  return (
    isOdd(elicit, 'function') ||
    isOdd(sample, 'function') ||
    isOdd(reconnect, 'boolean') ||
    (isOdd(roots, 'function') && !Array.isArray(roots)) ||
    (use ?? extensions ?? experimental) !== undefined ||
    !limits.every((name) => isLimit(options[name]))
  );
}
