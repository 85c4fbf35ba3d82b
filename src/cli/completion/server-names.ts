// The names that a server has for the words of a command. Only a server at a URL is asked: completion never starts a program.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Typed } from '../command/definition.js';
import { duration } from '../command/parse.js';
import { withTarget } from '../target/open.js';
import { takeTarget } from '../target/read-target.js';
import { withoutOptions } from './shell-words.js';

// A person waits. A line with --timeout has its own limit.
const TIMEOUT_MS = 2000;

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
  subscribe: async (client) => (await client.resources().all()).map(({ uri }) => uri),
};

/** The arguments of a tool, as one types them: `name=`, or `name=value` for each of its few values. */
function argumentsOf(schema: JsonObject): readonly string[] {
  return Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).flatMap(
    ([name, field]) => {
      const { type, enum: values } = isObject(field) ? field : ({} as JsonObject);
      const known = type === 'boolean' ? [true, false] : Array.isArray(values) ? values.slice(0, 50) : [];
      return [`${name}=`, ...known.map((value) => `${name}=${String(value)}`)];
    },
  );
}
