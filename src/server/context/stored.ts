// The definition of state that a server keeps for its callers.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { compileSchema } from '../../schema/compile.js';
import type { Infer, Schema, SchemaLike, Sent } from '../../schema/schema.js';
import type { CallerState, CallerStates, StateRules, StoredParts } from './caller-state.js';

/** The argument of `stored()`. */
export interface StoredOptions<S> {
  /** The name of the state: letters, digits, `-` and `_`, at most 64. It is part of the keys in the store: do not change it. */
  readonly name: string;
  /** The schema of the value. Values are validated when they are written, and again when they are read. */
  readonly schema: S;
  /** The value as long as the caller has none. Default: undefined. */
  readonly initial?: Sent<S> | undefined;
  /** The time after which a value that is not written any more is removed, in milliseconds. Default: 30 days. */
  readonly ttlMs?: number | undefined;
  /** The largest number of values with an id that one caller may have. Default: 100. */
  readonly max?: number | undefined;
}

/** The definition of a value that the server keeps for each caller, made by `stored()`. Pass it to `ctx.store`. */
export interface Stored<In = never, Out = unknown, Missing = unknown> {
  /** The kind of the definition: `stored`. */
  readonly kind: 'stored';
  /** The name of the state. */
  readonly name: string;
  /** Opens the value of a caller. `ctx.store` calls it. */
  readonly open: (parts: StoredParts, id?: string) => CallerStates<In, Out, Missing>;
}

/** Opens state for the caller: its only value of a kind, or one of several by its id. */
export interface ContextStore {
  /** The value of this caller. Needs to know who that is: `auth`, or a local caller. */
  <In, Out, Missing>(definition: Stored<In, Out, Missing>): CallerStates<In, Out, Missing>;
  /** One of the values of this caller, by the id that `create` returned. Its methods throw a `ToolError` if there is none. */
  <In, Out, Missing>(definition: Stored<In, Out, Missing>, id: string): CallerState<In, Out, never>;
}

const optionTable = {
  name: { is: 'string', required: true },
  schema: 'any',
  initial: 'any',
  ttlMs: { is: 'count', default: 30 * 86_400_000 },
  max: { is: 'count', default: 100 },
} as const satisfies OptionTable<StoredOptions<unknown>>;
const NAME = /^[\w-]{1,64}$/;

/**
 * Defines a value that the server keeps for each caller, for `ctx.store`. It is kept in the server's store, so all processes and all
 * later calls see it.
 *
 * @example
 * const cart = stored({ name: 'cart', schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });
 * const add = tool({
 *   input: z.object({ item: z.string() }),
 *   run: ({ item }, ctx) => ctx.store(cart).update(({ items }) => ({ items: [...items, item] })),
 * });
 */
export function stored<S extends SchemaLike>(
  options: StoredOptions<S> & { readonly initial: Sent<S> },
): Stored<Sent<S>, Infer<S>, never>;
/**
 * Defines a value that the server keeps for each caller, for `ctx.store`. Without `initial`, it is undefined until the first `set`.
 *
 * @example
 * const locale = stored({ name: 'locale', schema: z.string() });
 */
export function stored<S extends SchemaLike>(options: StoredOptions<S>): Stored<Sent<S>, Infer<S>, undefined>;
export function stored(options: StoredOptions<SchemaLike>): Stored<unknown, unknown, unknown> {
  const { name, schema, initial, ttlMs, max } = readOptions('stored', options, optionTable);
  if (!NAME.test(name)) throw new TypeError('stored: `name` must have 1 to 64 letters, digits, "-" or "_".');
  const rules: StateRules = {
    name,
    schema: compileSchema(schema as Schema, { io: 'input' }) as StateRules['schema'],
    initial,
    ttlMs,
    max,
  };
  return { kind: 'stored', name, open: (parts, id) => openLater(rules, parts, id) };
}

/** The values of a caller. Their code is loaded with the first use: most servers do not need it. */
function openLater(
  rules: StateRules,
  parts: StoredParts,
  id?: string,
): CallerStates<unknown, unknown, unknown> {
  const opened = async (): Promise<CallerStates<unknown, unknown, unknown>> =>
    (await import('./caller-state.js')).openCallerState(rules, parts, id);
  return {
    get: async () => (await opened()).get(),
    set: async (value) => (await opened()).set(value),
    update: async (change) => (await opened()).update(change),
    delete: async () => (await opened()).delete(),
    create: async (value) => (await opened()).create(value),
    list: async () => (await opened()).list(),
  };
}

/** The `store` of a context. */
export function storeOf(parts: StoredParts): ContextStore {
  return (definition: Stored, id?: string) => definition.open(parts, id) as never;
}
