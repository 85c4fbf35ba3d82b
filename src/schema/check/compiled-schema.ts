import type { SchemaDocument } from '../document/nodes.js';
import type { JsonSchema } from '../document/plain-json.js';
import type { Checked } from './issue.js';

export type Direction = 'input' | 'output';

export interface CompiledSchema<T = unknown> {
  /** What peers see. A plain JSON Schema is the very object that was given. */
  readonly json: JsonSchema;
  readonly io: Direction;
  /** The JSON Schema as it was read, for coercion and explanations. */
  readonly document: SchemaDocument;
  /** Whether the JSON Schema itself judges values, and not a library that also gave it. */
  readonly plain: boolean;
  /** Never a promise when the library is synchronous, as zod, valibot, arktype and JSON Schema are. */
  validate(value: unknown): Checked<T> | Promise<Checked<T>>;
}
