// The dialects of JSON Schema that are supported.

import { SchemaError } from './schema-error.js';

/** A dialect of JSON Schema: draft 2020-12 or draft-07. */
export type Dialect = '2020-12' | '7';

/** Reads `$schema`. Default: 2020-12, as the specification says (2025-11-25, JSON Schema Usage). */
export function dialectOf(schemaUri: unknown): Dialect {
  if (schemaUri === undefined) return '2020-12';
  if (typeof schemaUri === 'string') {
    const dialect = dialects.get(withoutNoise(schemaUri));
    if (dialect !== undefined) return dialect;
  }
  throw new SchemaError(
    `The dialect ${JSON.stringify(schemaUri)} in "$schema" is not supported; use ` +
      '"https://json-schema.org/draft/2020-12/schema" or "http://json-schema.org/draft-07/schema#", or leave "$schema" out for 2020-12.',
  );
}

const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ['//json-schema.org/draft/2020-12/schema', '2020-12'],
  ['//json-schema.org/draft-07/schema', '7'],
]);

/** Removes the parts in which spellings of one identifier differ: http or https, and an empty fragment. */
function withoutNoise(uri: string): string {
  const plain = uri.endsWith('#') ? uri.slice(0, -1) : uri;
  if (plain.startsWith('https:')) return plain.slice('https:'.length);
  return plain.startsWith('http:') ? plain.slice('http:'.length) : plain;
}
