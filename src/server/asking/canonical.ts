import { McpError } from '../../protocol/errors.js';

/** JSON text that is the same for equal values, in whatever order their fields were written, and for no other value. */
export function canonical(value: unknown): string {
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if ('toJSON' in value && typeof value.toJSON === 'function') return canonical(value.toJSON());
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}

// JSON.stringify makes null of a number that is not finite, and 0 of -0: two values would have one text.
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new McpError('invalid_params', `The arguments have the number ${value}, which JSON cannot carry`);
  return Object.is(value, -0) ? '-0' : String(value);
}
