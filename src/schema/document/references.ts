// Resolves the references inside one schema document. Nothing is ever fetched.

import { SchemaError } from './schema-error.js';

/** The names that a schema document gives its parts (`$id`, `$anchor`), and the targets of its references. */
export interface References {
  /** Registers the names that a schema declares. Returns the base URI that its own references resolve against. */
  declare(schema: Readonly<Record<string, unknown>>, pointer: string, base: string): string;
  /** Finds the pointer that a `$ref` refers to. There may be nothing at that pointer. */
  resolve(ref: string, base: string, where: string): Target;
  /** Does the same for a `$dynamicRef`. */
  resolveDynamic(ref: string, base: string, where: string): Target;
}

interface Target {
  readonly pointer: string;
  readonly base: string;
}

/** The base URI of a schema without `$id`. Nothing is ever fetched from it. */
export const ROOT_BASE = 'schema:///';

/** Makes an empty table of names for one schema document. */
export function createReferences(): References {
  const resources = new Map<string, Declaration>([[ROOT_BASE, { pointer: '', schema: undefined }]]);
  const anchors = new Map<string, Declaration>();
  const dynamicAnchors = new Map<string, Set<string>>();

  function declareReferences(schema: Schema, pointer: string, base: string): string {
    let own = base;
    const id = stringAt(schema, '$id');
    if (id !== undefined) {
      const { uri, fragment } = split(id, base, `"$id" at #${pointer}`);
      if (fragment !== '') {
        declareName(anchors, `${uri}#${fragment}`, { pointer, schema }); // the anchors of draft-07
      } else {
        own = uri;
        declareName(resources, uri, { pointer, schema });
      }
    }
    const anchor = stringAt(schema, '$anchor');
    if (anchor !== undefined) declareName(anchors, `${own}#${anchor}`, { pointer, schema });
    const dynamic = stringAt(schema, '$dynamicAnchor');
    if (dynamic !== undefined) {
      declareName(anchors, `${own}#${dynamic}`, { pointer, schema });
      dynamicAnchors.set(dynamic, (dynamicAnchors.get(dynamic) ?? new Set()).add(own));
    }
    return own;
  }

  function resolve(ref: string, base: string, where: string): Target {
    const { uri, fragment } = split(ref, base, `the reference ${JSON.stringify(ref)} at ${where}`);
    const resource = resources.get(uri);
    if (resource === undefined) {
      throw new SchemaError(
        `The reference ${JSON.stringify(ref)} at ${where} is to another document, and references are never fetched. Put its target under "$defs".`,
      );
    }
    if (fragment === '') return { pointer: resource.pointer, base: uri };
    if (fragment.startsWith('/')) return { pointer: resource.pointer + fragment, base: uri };
    const anchor = anchors.get(`${uri}#${fragment}`);
    if (anchor === undefined) throw unresolvedReference(ref, where);
    return { pointer: anchor.pointer, base: uri };
  }

  // Every dynamic scope finds the same anchor if the document declares it only once.
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

/** The error for a reference without a target. */
export function unresolvedReference(ref: string, where: string): SchemaError {
  return new SchemaError(
    `The reference ${JSON.stringify(ref)} at ${where} has no target in the schema; define it, for example under "$defs".`,
  );
}

type Schema = Readonly<Record<string, unknown>>;

interface Declaration {
  readonly pointer: string;
  readonly schema: Schema | undefined;
}

function declareName(names: Map<string, Declaration>, name: string, declaration: Declaration): void {
  const earlier = names.get(name);
  if (earlier === undefined) {
    names.set(name, declaration);
    return;
  }
  if (earlier.pointer === declaration.pointer) return;
  // TypeBox repeats a recursive type, including its `$id`, wherever it is used: equal schemas may share a name.
  if (JSON.stringify(earlier.schema) === JSON.stringify(declaration.schema)) return;
  throw new SchemaError(
    `Two different schemas are named ${JSON.stringify(name)}, at #${earlier.pointer} and #${declaration.pointer}; give each its own "$id" or "$anchor".`,
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

function stringAt(schema: Schema, keyword: string): string | undefined {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new SchemaError(`"${keyword}" must be a string, not ${JSON.stringify(value)}.`);
}
