import { SchemaError } from './schema-error.js';

/** The names a schema document gives its parts (`$id`, `$anchor`) and where a reference leads. */
export interface References {
  /** Notes the names a schema declares; returns the base its own references resolve against. */
  declare(schema: Readonly<Record<string, unknown>>, pointer: string, base: string): string;
  /** The pointer a `$ref` leads to, which may still have nothing at it. */
  resolve(ref: string, base: string, where: string): Target;
  /** Like `resolve`, for `$dynamicRef`. */
  resolveDynamic(ref: string, base: string, where: string): Target;
}

interface Target {
  readonly pointer: string;
  readonly base: string;
}

// A schema without `$id` still needs a base; nothing is ever fetched from it.
export const ROOT_BASE = 'schema:///';

export function createReferences(): References {
  const resources = new Map<string, Declared>([[ROOT_BASE, { pointer: '', schema: undefined }]]);
  const anchors = new Map<string, Declared>();
  const dynamicAnchors = new Map<string, Set<string>>();

  function declareReferences(schema: Schema, pointer: string, base: string): string {
    let own = base;
    const id = textOf(schema, '$id');
    if (id !== undefined) {
      const { uri, fragment } = split(id, base, `"$id" at #${pointer}`);
      if (fragment !== '') {
        note(anchors, `${uri}#${fragment}`, { pointer, schema }); // the anchors of draft-07
      } else {
        own = uri;
        note(resources, uri, { pointer, schema });
      }
    }
    const anchor = textOf(schema, '$anchor');
    if (anchor !== undefined) note(anchors, `${own}#${anchor}`, { pointer, schema });
    const dynamic = textOf(schema, '$dynamicAnchor');
    if (dynamic !== undefined) {
      note(anchors, `${own}#${dynamic}`, { pointer, schema });
      dynamicAnchors.set(dynamic, (dynamicAnchors.get(dynamic) ?? new Set()).add(own));
    }
    return own;
  }

  function resolve(ref: string, base: string, where: string): Target {
    const { uri, fragment } = split(ref, base, `the reference ${JSON.stringify(ref)} at ${where}`);
    const resource = resources.get(uri);
    if (resource === undefined) {
      throw new SchemaError(
        `The reference ${JSON.stringify(ref)} at ${where} leads outside the schema; references are never fetched. Put what it refers to under "$defs".`,
      );
    }
    if (fragment === '') return { pointer: resource.pointer, base: uri };
    if (fragment.startsWith('/')) return { pointer: resource.pointer + fragment, base: uri };
    const anchor = anchors.get(`${uri}#${fragment}`);
    if (anchor === undefined) throw unresolved(ref, where);
    return { pointer: anchor.pointer, base: uri };
  }

  // A dynamic anchor that is declared once in the whole document is what any dynamic scope would find.
  function resolveDynamic(ref: string, base: string, where: string): Target {
    const name = ref.slice(ref.indexOf('#') + 1);
    if ((dynamicAnchors.get(name)?.size ?? 0) > 1) {
      throw new SchemaError(
        `The "$dynamicAnchor" ${JSON.stringify(name)} for ${where} is declared in several embedded schemas; dynamic scope across "$id" is not supported, use "$ref".`,
      );
    }
    return resolve(ref, base, where);
  }

  return { declare: declareReferences, resolve, resolveDynamic };
}

export function unresolved(ref: string, where: string): SchemaError {
  return new SchemaError(
    `The reference ${JSON.stringify(ref)} at ${where} leads to nothing in the schema; define it, for example under "$defs".`,
  );
}

type Schema = Readonly<Record<string, unknown>>;

interface Declared {
  readonly pointer: string;
  readonly schema: Schema | undefined;
}

function note(names: Map<string, Declared>, name: string, declared: Declared): void {
  const earlier = names.get(name);
  if (earlier === undefined) {
    names.set(name, declared);
    return;
  }
  if (earlier.pointer === declared.pointer) return;
  // TypeBox repeats a recursive type, `$id` and all, wherever it is used: the same words mean the same thing.
  if (JSON.stringify(earlier.schema) === JSON.stringify(declared.schema)) return;
  throw new SchemaError(
    `Two different schemas are named ${JSON.stringify(name)}, at #${earlier.pointer} and #${declared.pointer}; give each its own "$id" or "$anchor".`,
  );
}

function split(reference: string, base: string, what: string): { uri: string; fragment: string } {
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = '';
    return { uri: url.href, fragment };
  } catch {
    throw new SchemaError(`Cannot read ${what} as a URI reference; correct it.`);
  }
}

function textOf(schema: Schema, keyword: string): string | undefined {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new SchemaError(`"${keyword}" must be a string; this one is ${JSON.stringify(value)}.`);
}
