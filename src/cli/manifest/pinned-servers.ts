// The servers that `lock` pins or checks, each with the digests of everything that it offers now.

import type { Client } from '../../client/model/client.js';
import { digestOfText, type Lock, type PinnedServer, pinList } from '../../connect/gateway/pins/lock.js';
import { lists } from '../../connect/routing/lists.js';
import { allPages } from '../../connect/routing/pages.js';
import type { ListName } from '../../connect/routing/router.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';
import { projectServers } from '../target/configured.js';
import { withTarget } from '../target/open.js';
import { isScript, type TypedTarget } from '../target/read-target.js';

/**
 * The servers that were typed, by the names that a lock file has for them. Without words, those of this folder and those of `lock`, which
 * remembers where it found them.
 */
export async function offeredNow(input: Typed, lock?: Lock): Promise<ReadonlyMap<string, PinnedServer>> {
  const found = new Map<string, PinnedServer>();
  for (const { name, typed } of await namedTargets(input, lock)) {
    await withTarget(typed, async ({ client, target }) => {
      const own = name ?? client.server.info?.name;
      if (own === undefined) throw usageError('The server does not say its name. Give it one: name=target.');
      if (found.has(own))
        throw usageError(`Two servers are called ${JSON.stringify(own)}. Give them names: name=target.`);
      const kept = keptTarget(target);
      found.set(own, { ...(await pinnedNow(client, input.signal)), ...(kept && { target: kept }) });
    });
  }
  return found;
}

/** The target for a lock file. One of a configuration is found there, and a URL with credentials or a query may have secrets. */
function keptTarget({ word, own }: TypedTarget): string | undefined {
  if (isScript(word)) return word;
  if (own !== undefined || !/^(?:https?|wss?):/i.test(word) || !URL.canParse(word)) return undefined;
  const { username, password, search, hash } = new URL(word);
  return username + password + search + hash === '' ? word : undefined;
}

interface NamedTarget {
  /** Undefined if the server says its own name. */
  readonly name: string | undefined;
  /** The words and options for this target alone. */
  readonly typed: Typed;
}

async function namedTargets(input: Typed, lock: Lock = new Map()): Promise<readonly NamedTarget[]> {
  if (input.process) return [{ name: undefined, typed: { ...input, words: [] } }];
  const [first] = input.words;
  const config = input.words.length === 1 && first?.endsWith('.json') ? first : input.text('config');
  const alone = (word: string): Typed => ({
    ...input,
    words: [word],
    text: (option) => (option === 'config' ? config : input.text(option)),
  });
  if (first !== undefined && first !== config)
    return input.words.map((word) => {
      const [, name, target] = /^([\w-]{1,64})=(.+)$/.exec(word) ?? [];
      const known = /^[\w-]+$/.test(word) ? word : undefined;
      return { name: name ?? known, typed: alone(target ?? word) };
    });
  const names = [...(await projectServers(config)).keys()];
  const configured = names.map((name) => ({ name, typed: alone(name) }));
  const others = first === undefined ? [...lock].filter(([name]) => !names.includes(name)) : [];
  const kept = others.flatMap(([name, { target }]) =>
    target === undefined ? [] : [{ name, typed: { ...alone(target), isFromFile: true } }],
  );
  const lost = others.filter(([, { target }]) => target === undefined).map(([name]) => cleanLine(name, 64));
  const all = [...configured, ...kept];
  const advice = `Name ${lost.length === 1 ? 'it' : 'them'} as name=target: ${lost.join(', ')}.`;
  if (all.length > 0 && lost.length > 0)
    input.out.note(`Not checked, because nothing says where these servers are. ${advice}`);
  if (all.length === 0 && lost.length > 0)
    throw usageError(`Nothing says where the pinned servers are. ${advice}`);
  if (all.length === 0)
    throw usageError('No server is configured here. Name a config, or servers as name=target.');
  return all;
}

/** The digests of everything that a connected server offers, as a gateway computes them. */
async function pinnedNow(client: Client, signal: AbortSignal): Promise<PinnedServer> {
  const kinds = Object.keys(lists) as ListName[];
  const pinned = await Promise.all(
    kinds.map(async (kind) => [kind, pinList(kind, await listed(client, kind, signal))] as const),
  );
  return {
    instructions: digestOfText(client.server.instructions ?? ''),
    lists: Object.fromEntries(pinned),
  };
}

/** The definitions as the server sent them: a digest is of everything in them, known or not. */
async function listed(client: Client, kind: ListName, signal: AbortSignal): Promise<readonly JsonObject[]> {
  if (client.server.capabilities[lists[kind].capability] === undefined) return [];
  return allPages(kind, (method, params) => client.request(method, params, { signal }));
}
