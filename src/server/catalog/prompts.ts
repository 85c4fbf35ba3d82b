// Compiles prompts, and converts the values that their handlers return.

import { isObject } from '../../jsonrpc/message.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { isContentBlock, text, user } from '../../protocol/model/content.js';
import { contentProblem } from '../../protocol/model/content-problem.js';
import type { ListedPrompt, PromptArgument, PromptMessage } from '../../protocol/model/model.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { Context } from '../context/context.js';
import type { Mounted } from '../context/handler-run.js';
import type { Completer } from '../define/definition.js';
import type { Prompt } from '../define/prompt.js';
import { checkMeta, UNSENDABLE } from '../results/written-results.js';
import { checkFunction, readCompleters } from './check-functions.js';
import { listDescription } from './description.js';

/** A prompt, prepared for its calls. */
export interface CompiledPrompt extends Guarded {
  readonly name: string;
  readonly listed: ListedPrompt;
  readonly args: CompiledSchema;
  readonly run: (args: unknown, ctx: Context) => unknown;
  readonly complete: ReadonlyMap<string, Completer>;
  /** The options that rules follow from. */
  readonly options: GuardedOptions;
  readonly mounted?: Mounted;
}

const noArguments = { type: 'object' } as const;

/** Compiles a prompt. Throws an error that describes the mistake in the definition. */
export function compilePrompt(
  name: string,
  prompt: Prompt,
  { access: rules }: { readonly access: ServerAccess },
): CompiledPrompt {
  if (name === '') throw new TypeError('a prompt needs a name');
  checkFunction('run', prompt.run);
  const args = compileSchema(prompt.options.args ?? noArguments, { io: 'input', requireObject: true });
  const listedArguments = listArguments(args.json);
  const complete = readCompleters(prompt.options.complete);
  for (const argument of complete.keys()) {
    if (!listedArguments.some((entry) => entry.name === argument)) {
      const names = listedArguments.map((entry) => entry.name).join(', ') || 'none';
      throw new TypeError(`"complete" names "${argument}", but the arguments are: ${names}`);
    }
  }
  const listed: ListedPrompt = {
    name,
    ...listDescription(prompt.options),
    ...(listedArguments.length > 0 && { arguments: listedArguments }),
  };
  const options = prompt.options as GuardedOptions;
  const access = rules.of({ kind: 'prompt', name }, options);
  return { name, listed, args, access, options, run: prompt.run as CompiledPrompt['run'], complete };
}

/** The arguments of a prompt as they are listed. */
export function listArguments(schema: Readonly<Record<string, unknown>>): PromptArgument[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).map(
    ([name, property]) => {
      const { title, description } = isObject(property) ? property : {};
      return {
        name,
        ...(typeof title === 'string' && { title }),
        ...(typeof description === 'string' && { description }),
        required: required.includes(name),
      };
    },
  );
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

/** Converts a handler's return value to messages. A string or a content block becomes a message of the user. */
export function toPromptResult(value: unknown, description: string | undefined): GetPromptResult {
  const base = description === undefined ? {} : { description };
  if (isObject(value) && 'messages' in value) {
    if (!Array.isArray(value['messages'])) throw new TypeError(`${UNSENDABLE}: "messages" must be an array.`);
    const { description: ownDescription, messages, _meta } = value;
    if (ownDescription !== undefined && typeof ownDescription !== 'string')
      throw new TypeError(`${UNSENDABLE}: "description" must be a string.`);
    if (_meta !== undefined) checkMeta(_meta);
    return {
      ...base,
      ...(value as object),
      messages: messages.map((message, index) => toMessage(message, `messages[${index}]`)),
    };
  }
  if (!Array.isArray(value)) return { ...base, messages: [toMessage(value, 'it')] };
  return { ...base, messages: value.map((item, index) => toMessage(item, `[${index}]`)) };
}

function toMessage(item: unknown, where: string): PromptMessage {
  if (typeof item === 'string') return user(item);
  if (isContentBlock(item)) return user(assertSendable(item, where));
  if (!isObject(item) || !('role' in item))
    throw new TypeError(
      `${UNSENDABLE}: ${where} is not a message. A prompt returns a string, a message made with user() or assistant(), a content block, or an array of those.`,
    );
  const { role, content } = item;
  if (role !== 'user' && role !== 'assistant')
    throw new TypeError(`${UNSENDABLE}: ${where} has a "role" that is neither "user" nor "assistant".`);
  if (typeof content === 'string') return { ...item, role, content: text(content) };
  if (isContentBlock(content)) return assertSendable(item as unknown as PromptMessage, where);
  const problem = Array.isArray(content)
    ? 'is an array. A message has one block: return one message for each.'
    : contentProblem(content);
  throw new TypeError(`${UNSENDABLE}: the content of ${where} ${problem}`);
}

function assertSendable<T extends object>(value: T, where: string): T {
  assertJson(value, where === 'it' ? UNSENDABLE : `${UNSENDABLE}, in ${where}`);
  return value;
}
