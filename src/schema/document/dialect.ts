import { SchemaError } from './schema-error.js';

export type Dialect = '2020-12' | '7';

/** Reads `$schema`. Absent means 2020-12, as the Model Context Protocol says (Spec 2025-11-25, JSON Schema Usage). */
export function dialectOf(declared: unknown): Dialect {
  if (declared === undefined) return '2020-12';
  if (typeof declared === 'string') {
    const dialect = dialects.get(withoutNoise(declared));
    if (dialect !== undefined) return dialect;
  }
  throw new SchemaError(
    `The dialect ${JSON.stringify(declared)} in "$schema" is not supported; use ` +
      '"https://json-schema.org/draft/2020-12/schema" or "http://json-schema.org/draft-07/schema#", or leave "$schema" out for 2020-12.',
  );
}

const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ['//json-schema.org/draft/2020-12/schema', '2020-12'],
  ['//json-schema.org/draft-07/schema', '7'],
]);

/** People write the identifiers with http or https and with or without the empty fragment. */
function withoutNoise(uri: string): string {
  const plain = uri.endsWith('#') ? uri.slice(0, -1) : uri;
  if (plain.startsWith('https:')) return plain.slice('https:'.length);
  return plain.startsWith('http:') ? plain.slice('http:'.length) : plain;
}
