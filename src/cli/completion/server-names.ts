// The names that a server has for the words of a command. Only a server at a URL is asked: completion never starts a program.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { fieldsOf } from '../../schema/read/across-branches.js';
import { type Shape, shapeOf } from '../../schema/read/shape.js';
import type { Typed } from '../command/definition.js';
import { duration } from '../command/parse.js';
import { withTarget } from '../target/open.js';
import { takeTarget } from '../target/read-target.js';
import { withoutOptions } from './shell-words.js';

// A person waits. A line with --timeout has its own limit.
const TIMEOUT_MS = 2000;
const MAX_VALUES = 50;

export interface CompletedWord {
  readonly command: string;
  /** The word that is being typed. */
  readonly word: string;
}

/** The names that fit the next word. */
export async function serverNames(
  input: Typed,
  { command, word }: CompletedWord,
): Promise<readonly string[]> {
  const { target, words } = await takeTarget(input);
  const namesOf = NAMES[command];
  if (namesOf === undefined || !isRemote(target.target)) return [];
  let names: readonly string[] = [];
  const limitMs = duration(input, 'timeout') ?? TIMEOUT_MS;
  const signal = AbortSignal.any([input.signal, AbortSignal.timeout(limitMs)]);
  await withTarget(
    { ...input, signal },
    async ({ client }) => {
      names = await namesOf(client, words, word);
    },
    { timeoutMs: limitMs, maxTimeoutMs: limitMs, connectTimeoutMs: limitMs, maxRetries: 0 },
  );
  return withoutOptions(names);
}

function isRemote(target: unknown): boolean {
  const url = isObject(target) ? target['url'] : target;
  return typeof url === 'string' && (/^(?:https?|wss?):\/\//i.test(url) || /^localhost:\d+/.test(url));
}

/** The names that fit the next word of a command whose connection is open. */
export async function namesAt(
  client: Client,
  words: readonly string[],
  { command, word }: CompletedWord,
): Promise<readonly string[]> {
  return withoutOptions((await NAMES[command]?.(client, words, word)) ?? []);
}

type NamesOf = (client: Client, words: readonly string[], word: string) => Promise<readonly string[]>;

const NAMES: Readonly<Record<string, NamesOf | undefined>> = {
  call: async (client, [name]) => {
    const tools = await client.tools().all();
    if (name === undefined) return tools.map((tool) => tool.name);
    const tool = tools.find((one) => one.name === name);
    return tool ? argumentsOf(tool.inputSchema) : [];
  },
  read: async (client, words) =>
    words.length > 0 ? [] : (await client.resources().all()).map(({ uri }) => uri),
  prompt: async (client, [name], word) => {
    const prompts = await client.prompts().all();
    if (name === undefined) return prompts.map((one) => one.name);
    const at = word.indexOf('=');
    if (at === -1)
      return (prompts.find((one) => one.name === name)?.arguments ?? []).map((one) => `${one.name}=`);
    const [argument, value] = [word.slice(0, at), word.slice(at + 1)];
    const { values } = await client.complete({ prompt: name, argument, value });
    return values.map((one) => `${argument}=${one}`);
  },
  'events listen': (client, words) => eventWords(client, words, 'inputSchema'),
  'events send': (client, words) => eventWords(client, words, 'payloadSchema'),
  subscribe: async (client) => (await client.resources().all()).map(({ uri }) => uri),
};

/** The types of events, and after one of them the fields of a schema of it. */
async function eventWords(
  client: Client,
  [name]: readonly string[],
  schema: 'inputSchema' | 'payloadSchema',
): Promise<readonly string[]> {
  const types = await client.events().all();
  if (name === undefined) return types.map((type) => type.name);
  return argumentsOf(types.find((type) => type.name === name)?.[schema] ?? {});
}

/** The arguments of a tool, as one types them: `name=`, or `name=value` for each of its few values. */
function argumentsOf(schema: JsonObject): readonly string[] {
  return fieldsOf(schema, schema).flatMap(({ name, schema: field }) => [
    `${name}=`,
    ...valuesOf(shapeOf(field, schema)).map((value) => `${name}=${String(value)}`),
  ]);
}

function valuesOf(shape: Shape): readonly unknown[] {
  switch (shape.kind) {
    case 'boolean':
      return [true, false];
    case 'const':
      return [shape.value];
    case 'choice':
      return shape.options.slice(0, MAX_VALUES).map(({ value }) => value);
    default:
      return [];
  }
}
