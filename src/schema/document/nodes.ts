/**
 * A subschema in normal form: it has been checked, has only the keywords that validate, is spelled as in 2020-12 in every
 * dialect, has an array for `type` and `{ not: true }` for `false`, and every `$ref` is a key of `SchemaDocument.targets`.
 */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode | boolean>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode | boolean>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly prefixItems?: readonly (SchemaNode | boolean)[];
  readonly items?: SchemaNode | boolean;
  readonly allOf?: readonly (SchemaNode | boolean)[];
  readonly anyOf?: readonly (SchemaNode | boolean)[];
  readonly oneOf?: readonly (SchemaNode | boolean)[];
  readonly not?: SchemaNode | boolean;
  readonly [keyword: string]: unknown;
}

/** A JSON Schema in normal form. It is a copy, so later changes to the caller's object have no effect. */
export interface SchemaDocument {
  readonly root: SchemaNode;
  readonly targets: Readonly<Record<string, SchemaNode | boolean>>;
  target(ref: string): SchemaNode | boolean;
  /** The patterns that can take exponential time, each with its location. */
  readonly slowPatterns: readonly string[];
}
