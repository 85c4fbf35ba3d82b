/**
 * A subschema in normal form: checked, only the keywords that validate, 2020-12 spelling whatever the dialect,
 * `type` always a list, `false` as `{ not: true }`, and every `$ref` a key of `SchemaDocument.targets`.
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

/** A JSON Schema that has been read: ours alone, so the caller's object is neither changed nor depended on. */
export interface SchemaDocument {
  readonly root: SchemaNode;
  readonly targets: Readonly<Record<string, SchemaNode | boolean>>;
  target(ref: string): SchemaNode | boolean;
  /** Patterns that can take exponential time, each with where it is. */
  readonly slowPatterns: readonly string[];
}
