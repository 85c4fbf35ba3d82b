// Schemas from anywhere as components of one document, so that their references lead where they led before.

import { isObject } from '../../jsonrpc/message.js';
import { toJsonSchema } from '../../schema/convert.js';
import type { StandardSchema } from '../../schema/standard.js';
import { OpenAPIError } from '../document/openapi-error.js';
import type { Json } from '../document/references.js';

const MAX_DEPTH = 100;
const COMPONENTS = '#/components/schemas/';

/** A schema that is a component of the document. */
export interface Component {
  readonly ref: string;
  /** The schema, with references into the document. */
  readonly schema: unknown;
}

/** The components of a document that is made here. */
export class ComponentSchemas {
  readonly #components = new Map<string, unknown>();
  readonly #ids = new Map<string, string>();

  /** Begins with the schemas that others refer to by their ids. */
  constructor(shared: Json = {}) {
    for (const [at, id] of Object.keys(shared).entries()) this.#ids.set(id, `${COMPONENTS}shared${at}`);
    for (const [at, [id, schema]] of Object.entries(shared).entries())
      this.#add(`shared${at}`, schema, `the schema "${id}"`);
  }

  /** Adds a schema. */
  define(
    name: string,
    schema: unknown,
    { io, where }: { readonly io: 'input' | 'output'; readonly where: string },
  ): Component {
    return this.#add(name, isStandard(schema) ? toJsonSchema(schema, io) : schema, where);
  }

  /** The components, by name. */
  get all(): Json {
    return Object.fromEntries(this.#components);
  }

  #add(name: string, schema: unknown, where: string): Component {
    if (!isObject(schema) && typeof schema !== 'boolean')
      throw new OpenAPIError(`The ${where} must be a JSON Schema, or a schema of a library such as zod.`);
    const ref = `${COMPONENTS}${name}`;
    const adopted = this.#adopt(schema, ref, { where, depth: 0 });
    this.#components.set(name, adopted);
    return { ref, schema: adopted };
  }

  #adopt(value: unknown, home: string, at: { readonly where: string; readonly depth: number }): unknown {
    if (at.depth > MAX_DEPTH)
      throw new OpenAPIError(
        `The ${at.where} is nested deeper than ${MAX_DEPTH} levels, or contains itself.`,
      );
    const inner = { ...at, depth: at.depth + 1 };
    if (Array.isArray(value)) return value.map((item) => this.#adopt(item, home, inner));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(
          ([key, item]) =>
            !(key.startsWith('$') && (key === '$id' || key === '$schema') && typeof item === 'string'),
        )
        .map(([key, item]) => [
          key,
          key === '$ref' && typeof item === 'string'
            ? this.#refer(item, home)
            : this.#adopt(item, home, inner),
        ]),
    );
  }

  /** `user#/properties/id` is relative to the schema with that id, `#/$defs/part` to the schema that it is in. */
  #refer(ref: string, home: string): string {
    const [id = '', fragment = ''] = ref.split('#', 2);
    const base = id === '' ? home : (this.#ids.get(id) ?? this.#ids.get(`${id}#`));
    return base === undefined ? ref : `${base}${fragment}`;
  }
}

/** A Standard Schema is an object or, in arktype, a function. */
function isStandard(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  );
}
