/**
 * A schema that follows Standard Schema V1 (https://standardschema.dev). The types are declared here, with those of its JSON
 * Schema extension, so that the package depends on no schema library and no version of one: they are structural.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** The properties of a Standard Schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  readonly types?: StandardTypes<Input, Output> | undefined;
}

/** A Standard Schema that can also convert itself to JSON Schema (zod >= 4.2, arktype, valibot's `toStandardJsonSchema`). */
export interface StandardJsonSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardJsonProps<Input, Output>;
}

interface StandardJsonProps<Input = unknown, Output = Input> extends StandardProps<Input, Output> {
  readonly jsonSchema: StandardJsonConverter;
}

/** Converts a schema to JSON Schema. Both methods throw if the library cannot represent the schema or lacks the target. */
export interface StandardJsonConverter {
  readonly input: (options: StandardJsonOptions) => Record<string, unknown>;
  readonly output: (options: StandardJsonOptions) => Record<string, unknown>;
}

interface StandardJsonOptions {
  readonly target: string;
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

interface StandardTypes<Input = unknown, Output = Input> {
  readonly input: Input;
  readonly output: Output;
}

/** The result of validating a value. */
export type StandardResult<Output> = StandardSuccess<Output> | StandardFailure;

interface StandardSuccess<Output> {
  readonly value: Output;
  readonly issues?: undefined;
}

interface StandardFailure {
  readonly issues: readonly StandardIssue[];
}

/** One problem that a library found in a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The part of a Standard Schema that type inference reads. Matching a large library type against so little is cheap. */
export interface StandardTyped {
  readonly '~standard': { readonly types?: StandardTypes | undefined };
}

/**
 * The part of a zod 4 schema that holds its types. The compiler reads them here at a fraction of the cost of `~standard`, which
 * for zod is a generic type over the schema itself: for 200 tools 162,000 instantiations instead of 204,000.
 */
export interface ZodTyped {
  readonly _zod: { readonly input: unknown; readonly output: unknown };
}

/**
 * The property that tells a Standard Schema from a JSON Schema. Its type is `unknown`, so that the compiler does not have to
 * resolve it.
 */
export interface HasStandard {
  readonly '~standard': unknown;
}

/** The type that a Standard Schema accepts, before defaults and conversions. */
export type InferInput<S extends StandardTyped> = NonNullable<S['~standard']['types']>['input'];

/** The type that a Standard Schema gives, after defaults and conversions. */
export type InferOutput<S extends StandardTyped> = NonNullable<S['~standard']['types']>['output'];
