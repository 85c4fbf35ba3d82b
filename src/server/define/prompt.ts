// The definition of a prompt.

import type { ContentBlock } from '../../protocol/model/content.js';
import type { PromptMessage } from '../../protocol/model/model.js';
import type { Infer, RawShape, Schema, SchemaLike } from '../../schema/schema.js';
import type { Context } from '../context/context.js';
import type { AccessRule } from './access.js';
import type { Completers, Described } from './definition.js';
import type { Awaitable, NotASchema } from './tool-handler.js';

/** The description of a prompt, without its handler. */
export interface PromptOptions<Args = undefined, State = unknown, User = unknown>
  extends Described,
    AccessRule<Infer<Args>> {
  /** The arguments, as a schema of an object whose fields are strings. Default: none. */
  readonly args?: Args;
  /** Completions for the arguments. */
  readonly complete?: Completers<Infer<Args>, State, User>;
}

/** A string, a message, a content block, or an array of those; or a complete result with its own description. */
export type PromptReturn =
  | string
  | PromptMessage
  | ContentBlock
  | readonly (string | PromptMessage | ContentBlock)[]
  | {
      /** A description of this result. Default: the prompt's. */
      readonly description?: string;
      /** The messages. */
      readonly messages: readonly PromptMessage[];
    };

/** The function that makes a prompt's messages. */
export type PromptHandler<Args, State, User> = Args extends RawShape
  ? NotASchema<Args, AnyPromptHandler<Args, State, User>>
  : AnyPromptHandler<Args, State, User>;

type AnyPromptHandler<Args, State, User> = (
  args: Infer<Args>,
  ctx: Context<State, User>,
) => Awaitable<PromptReturn>;

/** A defined prompt. */
export interface Prompt<Args = never, State = unknown, User = unknown> {
  /** The kind of the definition: `prompt`. */
  readonly kind: 'prompt';
  /** The description of the prompt. */
  readonly options: PromptOptions<Schema | undefined, State, User>;
  /** The function that makes the messages. */
  readonly run: (args: Args, ctx: Context<State, User>) => Awaitable<PromptReturn>;
}

/** The argument of `prompt()`: the description and the handler. */
export interface PromptDefinition<Args, State, User> extends PromptOptions<Args, State, User> {
  /** Makes the messages. A string or a content block becomes a message of the user. */
  readonly run: PromptHandler<Args, State, User>;
}

/**
 * Defines a prompt: a message template that the user picks.
 *
 * @example
 * const review = prompt({
 *   description: 'Reviews code',
 *   args: z.object({ code: z.string() }),
 *   run: ({ code }) => `Please review this code:\n\n${code}`,
 * });
 */
export function prompt<Args extends SchemaLike | undefined = undefined, State = unknown, User = unknown>(
  definition: PromptDefinition<Args, State, User>,
): Prompt<Infer<Args>, State, User> {
  const { run, ...options } = definition;
  const result: object = { kind: 'prompt', options, run };
  return result as Prompt<Infer<Args>, State, User>;
}
