// The schemas of one document: each is converted once, and shared by the definitions that mention it.

import type { SchemaDirection } from '../../schema/check/compiled-schema.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import type { DocumentReferences, Json } from '../document/references.js';
import { type Conversion, convertSchema, isHidden, outline } from './convert.js';
import { digest } from './names.js';

/** A schema that others refer to. */
interface Definition {
  readonly json: JsonSchema | boolean;
  readonly refs: ReadonlySet<string>;
  readonly chars: number;
  readonly raw: unknown;
}

/** Converts one schema. */
export type Convert = (raw: unknown) => JsonSchema | boolean;

export interface SchemaLimits {
  readonly maxSchemaChars: number;
  readonly maxDescriptionChars: number;
}

/** The depths to try until a schema is small enough. */
const DEPTHS = [24, 8, 5, 4, 3, 2, 1];

/** The schemas of a document. */
export class Schemas {
  readonly #references: DocumentReferences;
  readonly #limits: SchemaLimits;
  readonly #definitions = { input: new Map<string, Definition>(), output: new Map<string, Definition>() };

  constructor(references: DocumentReferences, limits: SchemaLimits) {
    this.#references = references;
    this.#limits = limits;
  }

  /** The schema at the end of a reference; any other schema as it is. */
  resolve(raw: unknown): unknown {
    return this.#references.end(raw, 'a schema').value;
  }

  isHidden(raw: unknown, direction: SchemaDirection): boolean {
    return isHidden(raw, { direction, resolve: (schema) => this.resolve(schema) });
  }

  /**
   * Builds a schema, and adds what it refers to as `$defs`. If it has more characters than allowed, its deeper levels are only outlined,
   * and so are the definitions that do not fit.
   */
  build(direction: SchemaDirection, build: (convert: Convert) => JsonSchema): JsonSchema {
    for (const maxDepth of DEPTHS) {
      const { convert, refs } = this.#converter(direction, maxDepth);
      const json = build(convert);
      const { length } = JSON.stringify(json);
      if (length <= this.#limits.maxSchemaChars || maxDepth === 1)
        return this.#bundle(json, { refs, direction, length });
    }
    return {};
  }

  #bundle(
    json: JsonSchema,
    {
      refs,
      direction,
      length,
    }: { readonly refs: ReadonlySet<string>; readonly direction: SchemaDirection; readonly length: number },
  ): JsonSchema {
    // A loop over a set also visits what is added to it meanwhile: the nearest definitions come first.
    const pointers = new Set(refs);
    const entries: [string, unknown][] = [];
    let chars = length;
    for (const pointer of pointers) {
      const definition = this.#definition(pointer, direction);
      const fits = chars + definition.chars <= this.#limits.maxSchemaChars;
      entries.push([nameOf(pointer), fits ? definition.json : outline(definition.raw)]);
      if (!fits) continue;
      chars += definition.chars;
      for (const ref of definition.refs) pointers.add(ref);
    }
    return entries.length === 0 ? json : { ...json, $defs: Object.fromEntries(entries) };
  }

  #definition(pointer: string, direction: SchemaDirection): Definition {
    const known = this.#definitions[direction].get(pointer);
    if (known !== undefined) return known;
    const { convert, refs } = this.#converter(direction, DEPTHS[0] as number);
    const raw = this.#references.at(pointer);
    const json = convert(raw);
    const definition = { json, refs, chars: JSON.stringify(json).length, raw };
    this.#definitions[direction].set(pointer, definition);
    return definition;
  }

  #converter(
    direction: SchemaDirection,
    maxDepth: number,
  ): { readonly convert: Convert; readonly refs: Set<string> } {
    const refs = new Set<string>();
    const conversion: Conversion = {
      direction,
      maxDepth,
      maxDescriptionChars: this.#limits.maxDescriptionChars,
      count: { schemas: 0 },
      resolve: (raw) => this.resolve(raw),
      refer: (raw: Json) => {
        const { pointer } = this.#references.end(raw, 'a schema');
        refs.add(pointer);
        return `#/$defs/${nameOf(pointer)}`;
      },
    };
    return { refs, convert: (raw) => convertSchema(raw, conversion) };
  }
}

function nameOf(pointer: string): string {
  // Swagger 2.0 has its schemas in `definitions`.
  const simple = /^\/(?:components\/schemas|definitions)\/([A-Za-z0-9_.-]{1,80})$/.exec(pointer)?.[1];
  if (simple !== undefined && simple !== '__proto__') return simple;
  const last = pointer.slice(pointer.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
  return `${last.slice(0, 60)}_${digest(pointer)}`;
}
