import { McpError } from '../../protocol/errors.js';

/** Beyond this the call stack is at risk. */
const LEVELS = 1000;

/** JSON text that is the same for equal values, in whatever order their fields were written, and for no other value. */
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

// JSON.stringify makes null of a number that is not finite, and 0 of -0: two values would have one text.
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new McpError('invalid_params', `The arguments have the number ${value}, which JSON cannot carry`);
  return Object.is(value, -0) ? '-0' : String(value);
}
