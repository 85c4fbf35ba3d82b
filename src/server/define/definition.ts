// The parts that the definitions of tools, resources and prompts share. A definition is data; `createServer` compiles it once.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Icon } from '../../protocol/model/content.js';
import type { Context } from '../context/context.js';
import type { Awaitable } from './tool-handler.js';

/** The fields that every definition may have. */
export interface Described {
  /** The name that people see. Default: the definition's name. */
  readonly title?: string;
  /** The purpose of the definition and when to use it. The model reads this. */
  readonly description?: string;
  /** Icons that clients may show, each an `https:` or `data:` URI. */
  readonly icons?: readonly Icon[];
  /**
   * Tags for clients that filter definitions, and for the rules of `access.tags`. Clients get them as `_meta["fullmcp/tags"]`.
   */
  readonly tags?: readonly string[];
  /** The `_meta` of the definition. */
  readonly meta?: JsonObject;
}

/** Suggests values for one variable or argument. */
export type Completer<State = unknown, User = unknown> = (
  /** The part that the user has typed so far. */
  prefix: string,
  /** The variables or arguments that are already filled in. */
  filled: Readonly<Record<string, string>>,
  ctx: Context<State, User>,
) => Awaitable<
  | readonly string[]
  | {
      /** The suggestions. The first 100 are sent. */
      readonly values: readonly string[];
      /** The total number of suggestions. Default: the length of `values`. */
      readonly total?: number;
    }
>;

/** Completers by the name of the variable or argument that they complete. */
export type Completers<Values, State, User> = {
  readonly [Name in keyof NotInferred<Values> & string]?: Completer<State, User>;
};

/**
 * Keeps a type parameter from being inferred from this position. Unlike `NoInfer`, it disappears once the type is known, so that
 * no hover shows it.
 */
export type NotInferred<T> = [T][T extends unknown ? 0 : never];
