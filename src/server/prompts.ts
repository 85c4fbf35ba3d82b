import { isObject } from '../jsonrpc/message.js';
import { type ContentBlock, isContentBlock, user } from '../protocol/content.js';
import type { ListedPrompt, PromptArgument, PromptMessage } from '../protocol/model.js';
import { type CompiledSchema, compileSchema } from '../schema/compile.js';
import type { Context } from './context.js';
import type { Completer, Prompt } from './define.js';
import { listDescription } from './described.js';

export interface CompiledPrompt {
  readonly name: string;
  readonly listed: ListedPrompt;
  readonly args: CompiledSchema;
  readonly run: (args: unknown, ctx: Context) => unknown;
  readonly complete: ReadonlyMap<string, Completer>;
}

const noArguments = { type: 'object' } as const;

/** Throws an error that says what is wrong with the definition. */
export function compilePrompt(name: string, prompt: Prompt): CompiledPrompt {
  if (name === '') throw new TypeError('a prompt needs a name');
  if (typeof prompt.run !== 'function') throw new TypeError('it has no "run"');
  const args = compileSchema(prompt.options.args ?? noArguments, { io: 'input', requireObject: true });
  const listedArguments = listArguments(args.json);
  const complete = new Map(Object.entries(prompt.options.complete ?? {}));
  for (const argument of complete.keys()) {
    if (!listedArguments.some((known) => known.name === argument)) {
      const names = listedArguments.map((known) => known.name).join(', ') || 'none';
      throw new TypeError(`"complete" names "${argument}", but the arguments are: ${names}`);
    }
  }
  const listed: ListedPrompt = {
    name,
    ...listDescription(prompt.options),
    ...(listedArguments.length > 0 && { arguments: listedArguments }),
  };
  return { name, listed, args, run: prompt.run as CompiledPrompt['run'], complete };
}

function listArguments(schema: Readonly<Record<string, unknown>>): PromptArgument[] {
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

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

/** What a handler returned, as messages. A bare text or block is the user's. */
export function toPromptResult(value: unknown, description: string | undefined): PromptResult {
  const described = description === undefined ? {} : { description };
  if (isObject(value) && Array.isArray(value['messages'])) {
    return { ...described, ...(value as unknown as PromptResult) };
  }
  const items = Array.isArray(value) ? value : [value];
  return { ...described, messages: items.map(toMessage) };
}

function toMessage(item: unknown): PromptMessage {
  if (typeof item === 'string' || isContentBlock(item)) return user(item as string | ContentBlock);
  if (isObject(item) && (item['role'] === 'user' || item['role'] === 'assistant')) {
    return item as unknown as PromptMessage;
  }
  throw new TypeError('A prompt returns a text, a message, a content block, or a list of those');
}
