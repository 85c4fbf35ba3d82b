// A schema that has been compiled for validation.

import type { SchemaDocument } from '../document/nodes.js';
import type { JsonSchema } from '../document/plain-json.js';
import type { ValidationResult } from './issue.js';

/** The side of a schema: `input` before defaults and conversions, `output` after them. */
export type SchemaDirection = 'input' | 'output';

/** A schema that is ready to validate values. */
export interface CompiledSchema<T = unknown> {
  /** The JSON Schema that peers see. For a plain JSON Schema it is the original object. */
  readonly json: JsonSchema;
  readonly io: SchemaDirection;
  /** The JSON Schema in normal form, for coercion and error messages. */
  readonly document: SchemaDocument;
  /** Whether the JSON Schema itself validates values, and not the library that it came from. */
  readonly plain: boolean;
  /** Validates a value. It returns a promise only if the library does; zod, valibot, arktype and JSON Schema are synchronous. */
  validate(value: unknown): ValidationResult<T> | Promise<ValidationResult<T>>;
}
