import { Retries } from '../../async/retries.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { type Caller, principalOf } from '../../protocol/caller.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { McpError } from '../../protocol/errors.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { explainLater } from '../../schema/explain-later.js';
import type { Put, Store, StoreEntry } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';
import { ToolError } from '../results/tool-error.js';

// The values that a server keeps for its callers.

/** A value of one caller. */
export interface CallerState<In, Out, Missing> {
  /** Reads the value. */
  readonly get: () => Promise<Out | Missing>;
  /** Writes the value. If it depends on the one before, use `update`. */
  readonly set: (value: In) => Promise<void>;
  /**
   * Changes the value, and returns it. If another call changes it at the same time, `change` runs again with the newer value, so it
   * must have no other effect.
   */
  readonly update: (change: (before: Out | Missing) => In | Promise<In>) => Promise<Out>;
  /** Removes the value. */
  readonly delete: () => Promise<void>;
}

/** A value that has an id. */
export interface StateWithId<Out> {
  /** The id that `create` returned. */
  readonly id: string;
  /** The value. */
  readonly value: Out;
}

/** The values of one caller: the one without an id, and those that `create` has made. */
export interface CallerStates<In, Out, Missing> extends CallerState<In, Out, Missing> {
  /** Makes a value with an id that nobody can guess. The model passes the id on, so each conversation can have its own value. */
  readonly create: (value: In) => Promise<string>;
  /** The values of this caller that have an id. */
  readonly list: () => Promise<readonly StateWithId<Out>[]>;
}

/** The parts of a call and its server that state needs. */
export interface StoredParts {
  readonly server: string;
  readonly store: Store;
  readonly caller: Caller;
}

/** A definition, as the values of callers are read and written by it. */
export interface StateRules {
  readonly name: string;
  readonly schema: CompiledSchema;
  readonly initial: unknown;
  readonly ttlMs: number;
  readonly max: number;
}

// Random pauses, so that calls that change a value at the same time do not meet again and again.
const CONTENDING = { baseMs: 2, maxMs: 250, maxAttempts: 30 };
const MAX_LENGTH = 256 * 1024;

/** Opens the values of a caller. */
export function openCallerState<In, Out, Missing>(
  rules: StateRules,
  parts: StoredParts,
  id?: string,
): CallerStates<In, Out, Missing> {
  const state = new StateOf(rules, parts);
  const key = id === undefined ? () => state.ownKey() : () => state.keyOf(id);
  const missing = id === undefined ? () => state.initial() : () => state.unknown(id);
  const update: CallerState<In, Out, Missing>['update'] = (change) =>
    state.update(key, missing, change as (before: unknown) => unknown) as Promise<Out>;
  return {
    async get() {
      const entry = await state.read(await key());
      return (await (entry === undefined ? missing() : state.valueOf(entry))) as Out;
    },
    async set(value) {
      // A value with an id must be there: otherwise a client could choose ids.
      if (id !== undefined) return void (await update(() => value));
      await state.write({ do: 'put', key: await key(), ...(await state.checked(value)) });
    },
    update,
    async delete() {
      await state.write({ do: 'delete', key: await key() });
    },
    create: (value) => state.create(value),
    list: () => state.list() as Promise<{ id: string; value: Out }[]>,
  };
}

class StateOf {
  readonly #rules: StateRules;
  readonly #parts: StoredParts;

  constructor(rules: StateRules, parts: StoredParts) {
    this.#rules = rules;
    this.#parts = parts;
  }

  async #prefix(): Promise<string> {
    const { server, caller } = this.#parts;
    return `state:${await callerGroup(server, principalOf(caller))}:${this.#rules.name}`;
  }

  async ownKey(): Promise<string> {
    const { auth, isLocal } = this.#parts.caller;
    // All anonymous callers would share one value.
    if (auth === undefined && isLocal !== true)
      throw new Error(
        `ctx.store(${this.#rules.name}) needs to know who is calling: set the option "auth", or let the model pass an id on: ctx.store(${this.#rules.name}).create(value), then ctx.store(${this.#rules.name}, id).`,
      );
    return this.#prefix();
  }

  async keyOf(id: string): Promise<string> {
    const { name } = this.#rules;
    if (typeof id !== 'string' || id.length !== name.length + 23 || !/^[\w-]+$/.test(id)) this.unknown(id);
    return `${await this.#prefix()}:${id}`;
  }

  unknown(id: string): never {
    const { name } = this.#rules;
    const shown = typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? ` "${id}"` : ' with this id';
    throw new ToolError(`There is no ${name}${shown}. It may have expired: create a new one.`);
  }

  async initial(): Promise<unknown> {
    const { initial } = this.#rules;
    return initial === undefined ? undefined : this.#validated(initial, 'initial value');
  }

  read(key: string): Promise<StoreEntry | undefined> {
    return available(this.#parts.store.get(key));
  }

  async write(change: Parameters<Store['write']>[0][number]): Promise<boolean> {
    return (await available(this.#parts.store.write([change]))).ok;
  }

  async valueOf({ value }: StoreEntry): Promise<unknown> {
    return this.#validated(value['value'], 'stored value');
  }

  async #validated(value: unknown, what: string): Promise<unknown> {
    const { schema, name } = this.#rules;
    const checked = await schema.validate(value);
    if (checked.ok) return checked.value;
    throw new Error(
      `The ${what} of "${name}" does not match its schema. ${await explainLater(checked.issues, schema, value)} If the schema has changed, give new fields a default, or use another name.`,
    );
  }

  /** A value that may be written, in the form in which it is stored. */
  async checked(value: unknown): Promise<Pick<Put, 'value' | 'ttlMs'>> {
    const { schema, name, ttlMs } = this.#rules;
    assertJson(value, `The value for "${name}" cannot be stored`);
    const checked = await schema.validate(value);
    if (!checked.ok)
      throw new TypeError(
        `The value for "${name}" does not match its schema. ${await explainLater(checked.issues, schema, value)}`,
      );
    const text = JSON.stringify({ value });
    if (text.length > MAX_LENGTH)
      throw new ToolError(
        `The ${name} is too large: it has ${text.length} characters, and at most ${MAX_LENGTH} can be kept.`,
      );
    return { value: JSON.parse(text) as JsonObject, ttlMs };
  }

  async update(
    key: () => Promise<string>,
    missing: () => unknown,
    change: (before: unknown) => unknown,
  ): Promise<unknown> {
    const at = await key();
    const retries = new Retries(CONTENDING);
    while (await retries.next()) {
      const entry = await this.read(at);
      const before = await (entry === undefined ? missing() : this.valueOf(entry));
      const put = await this.checked(await change(before));
      const condition = entry === undefined ? 'absent' : { version: entry.version };
      if (await this.write({ do: 'put', key: at, if: condition, ...put }))
        return this.#validated(put.value['value'], 'stored value');
    }
    throw new McpError(
      'overloaded',
      `The ${this.#rules.name} is being changed by too many calls. Retry later.`,
    );
  }

  async create(value: unknown): Promise<string> {
    const { name, max } = this.#rules;
    const put = await this.checked(value);
    const prefix = await this.#prefix();
    const { auth, isLocal } = this.#parts.caller;
    // The values of anonymous callers are together, and no caller could remove those of the others.
    if (auth !== undefined || isLocal === true) {
      const entries = await available(this.#parts.store.page(`${prefix}:`, { limit: max }));
      if (entries.length >= max)
        throw new ToolError(
          `There are ${max} of the kind ${name} already. Delete one before you create another.`,
        );
    }
    const id = `${name}_${encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)))}`;
    await this.write({ do: 'put', key: `${prefix}:${id}`, if: 'absent', ...put });
    return id;
  }

  async list(): Promise<readonly { id: string; value: unknown }[]> {
    const prefix = `${await this.ownKey()}:`;
    const entries = await available(this.#parts.store.page(prefix, { limit: this.#rules.max }));
    return Promise.all(
      entries.map(async (entry) => ({
        id: entry.key.slice(prefix.length),
        value: await this.valueOf(entry),
      })),
    );
  }
}

/** Turns a failure of the store into an error that says what to do. */
async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new McpError('overloaded', 'The state of the caller is not available now. Retry later.', {
      cause: error,
    });
  }
}
