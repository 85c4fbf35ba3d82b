/** An unusable schema. It is thrown when a tool or prompt is defined, never during a call. */
export class SchemaError extends Error {
  /** The name of the error's class. */
  override readonly name: string = 'SchemaError';
  /** The code of every such error: `schema`. */
  readonly code: string = 'schema';
}
