import { hasUnknown, isLimit, type Keys, limits } from './option-keys.js';

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
