// JSON that is the same for equal values, and digests, to compare values and to name them.

import { McpError } from './errors.js';

/** The deepest nesting that is safe for the call stack. */
const LEVELS = 1000;

/** Writes JSON that is the same for equal values, regardless of the order of their fields, and different for all others. */
export function canonical(value: unknown): string {
  return write(value, LEVELS);
}

function write(value: unknown, levels: number): string {
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (levels === 0)
    throw new McpError(
      'invalid_params',
      `The arguments have more than ${LEVELS} levels of arrays and objects`,
    );
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), levels - 1);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, levels - 1)).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${write(field, levels - 1)}`).join(',')}}`;
}

// JSON.stringify writes null for a number that is not finite, and 0 for -0: different values would get the same JSON.
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new McpError('invalid_params', `The arguments have the number ${value}, which JSON cannot carry`);
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Computes the SHA-256 digest of a string. */
export async function digestOf(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
