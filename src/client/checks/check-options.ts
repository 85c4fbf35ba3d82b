import type { AnyTable } from '../../protocol/checks/options.js';

// A quick check of the options of `connect`, small enough for every page.

/** Throws one error that lists all mistakes in the options of `connect`. */
export async function checkOptionsOf(functionName: string, value: unknown, table: AnyTable): Promise<void> {
  if (!looksOdd(value, table)) return;
  const { checkConnectOptions } = await import('./option-mistakes.js');
  checkConnectOptions(functionName, value, table);
}

/** Whether the options may have a mistake. Finding out which one loads more code. */
function looksOdd(value: unknown, table: AnyTable): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return Object.entries(value).some(([name, option]) => {
    if (!Object.hasOwn(table, name)) return true;
    const kind = table[name] as string | readonly string[];
    if (kind === 'any' || option === undefined) return false;
    // Kinds are named as `typeof` names them; `array` is none of its names, so that arrays are looked at more closely.
    if (!kind.includes(typeof option) || (typeof option === 'number' && !(option >= 0))) return true;
    return typeof option === 'object' && !(Array.isArray(option) && kind.includes('array'));
  });
}
