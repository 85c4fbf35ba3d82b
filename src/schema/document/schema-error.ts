/**
 * An unusable schema. `jsonSchema()` throws it, and so do `ctx.ask` and `ctx.elicit` for the schema of a form. `createServer`
 * reports it as part of a `DefinitionError`.
 */
export class SchemaError extends Error {
  /** The name of the error's class. */
  override readonly name: string = 'SchemaError';
  /** The code of every such error: `schema`. */
  readonly code: string = 'schema';
}
