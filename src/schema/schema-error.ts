/** A schema that cannot be used, found when a tool or prompt is defined, never during a call. */
export class SchemaError extends Error {
  override readonly name: string = 'SchemaError';
  readonly code: string = 'schema';
}
