// The types of handlers, which follow from their schemas. The conditional type encloses the whole function and not only its
// return type: the compiler resolves only the outer type before it checks the handler's body, so literals are kept only in this
// form.

import type { ContentBlock } from '../../protocol/model/content.js';
import type { Infer, RawShape } from '../../schema/schema.js';
import type { InferInput, StandardTyped, ZodTyped } from '../../schema/standard.js';
import type { Context } from '../context/context.js';
import type { ToolResult } from '../results/tool-result.js';

/** A value or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/**
 * The function that runs a tool. With an `output` schema it returns a value that the schema accepts, or a complete `ToolResult`;
 * without one it returns any value.
 */
export type ToolHandler<In, Out, State, User, Returned> = In extends RawShape
  ? NotASchema<In, AnyHandler<In, State, User, Returned>>
  : Out extends ZodTyped
    ? OutputHandler<In, Out['_zod']['input'], State, User, Returned>
    : Out extends StandardTyped
      ? OutputHandler<In, InferInput<Out>, State, User, Returned>
      : Out extends { readonly static: infer T }
        ? OutputHandler<In, T, State, User, Returned>
        : Out extends RawShape
          ? NotASchema<Out, AnyHandler<In, State, User, Returned>>
          : AnyHandler<In, State, User, Returned>;

type AnyHandler<In, State, User, Returned> = (
  input: Infer<In>,
  ctx: Context<State, User>,
) => Awaitable<Returned>;

type OutputHandler<In, Wanted, State, User, Returned> = (
  input: Infer<In>,
  ctx: Context<State, User>,
) => Awaitable<(Wanted | ToolResult) & NoExtra<Returned, Wanted>> | Yielding;

/**
 * The run of a handler that yields, such as `async *run() { … }`: each chunk is reported as progress. Its value is checked when it
 * runs: a type for each tool would slow down the compiler.
 */
type Yielding = AsyncGenerator<string | ContentBlock, unknown, unknown>;

/** Rejects an object of schemas. `{}` is accepted: it is also a JSON Schema, which allows any value. */
export type NotASchema<S, Handler> = [keyof S] extends [never]
  ? Handler
  : 'An object of schemas is not a schema: wrap it, for example z.object({ … }).';

/** A module with the handler of a tool whose code is loaded with its first call. */
export type ToolModule<Run> =
  | {
      /** The handler. */
      readonly run: Run;
    }
  | {
      /** The handler. */
      readonly default: Run;
    };

/** The result of a tool with `handle: true`. Its value is in the store of the server, for this caller. */
export interface ValueHandle {
  /** Stands for the value in the arguments of other tools of the server. With a JSON Pointer after it, it stands for a part of the value. */
  readonly handle: string;
  /** The kind and the size of the value, and how to use the handle. */
  readonly summary: string;
  /** The beginning of the JSON of the value. */
  readonly preview: string;
  /** The time until which the value is kept, at most, in ISO 8601. */
  readonly expiresAt: string;
}

/**
 * The type of a tool's value: the output of the `output` schema, defaults included, or else the type that the handler returns. With
 * `handle: true`, clients get a `ValueHandle` in its place.
 */
export type ToolValue<Out, Returned, Handle = false> = Handle extends true
  ? ValueHandle
  : Out extends ZodTyped
    ? Out['_zod']['output']
    : Out extends StandardTyped | { readonly static: unknown }
      ? Infer<Out>
      : Returned extends { readonly next: unknown }
        ? GeneratedValue<Returned>
        : Returned;

/** The value of a handler that yields. Few handlers have a `next`, so that the compiler rarely looks any further. */
type GeneratedValue<Returned> =
  Returned extends AsyncGenerator<infer Chunk, infer Value, never> ? YieldedValue<Chunk, Value> : Returned;

/** A handler that yields and returns nothing gives its chunks: the text, if all of them are strings, or else blocks. */
// biome-ignore lint/suspicious/noConfusingVoidType: the type that a generator without a return statement returns.
type YieldedValue<Chunk, Value> = [Value] extends [void]
  ? [Chunk] extends [string]
    ? string
    : readonly ContentBlock[]
  : Value;

/**
 * Rejects a field that the output does not have. `Returned` is inferred from the value that the handler returns. If the output
 * accepts any value, nothing is checked here.
 */
type NoExtra<Returned, Wanted> = unknown extends Wanted
  ? unknown
  : Unwanted<Exclude<keyof Returned, KeysOf<Wanted> | keyof ToolResult | `${number}`>>;

/** Without keys the type is `unknown` and not `{}`, which would reject `null`. */
type Unwanted<Keys extends PropertyKey> = [Keys] extends [never]
  ? unknown
  : { readonly [Key in Keys]: 'The output schema does not have this field.' };

type KeysOf<T> = T extends unknown ? keyof T : never;

/**
 * The context in which the compiler reads a handler without parameters. It reads such a handler before it knows the output
 * schema, and widens `'clear'` to `string` unless something says that literals and tuples are wanted at that place. Any value
 * fits; an intersection with `{}` keeps `string` from absorbing the literal.
 */
export type Literals =
  | (string & {})
  | ''
  | (number & {})
  | 0
  | boolean
  | bigint
  | symbol
  | null
  | undefined
  | object
  | readonly [Literals, ...Literals[]]
  | { readonly [field: string]: Literals };
