// The servers that `lock` and `verify` look at, each with the digests of everything that it offers now.

import type { Client } from '../../client/model/client.js';
import { digestOfText, type PinnedServer, pinList } from '../../connect/gateway/pins/lock.js';
import { lists } from '../../connect/routing/lists.js';
import { allPages } from '../../connect/routing/pages.js';
import type { ListName } from '../../connect/routing/router.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';
import { projectServers } from '../target/configured.js';
import { withTarget } from '../target/open.js';

/** The servers that were typed, by the names that a lock file has for them. Without words, those of this folder. */
export async function offeredNow(input: Typed): Promise<ReadonlyMap<string, PinnedServer>> {
  const found = new Map<string, PinnedServer>();
  for (const { name, typed } of await namedTargets(input)) {
    await withTarget(typed, async ({ client }) => {
      const own = name ?? client.server.info?.name;
      if (own === undefined) throw usageError('The server does not say its name. Give it one: name=target.');
      if (found.has(own))
        throw usageError(`Two servers are called ${JSON.stringify(own)}. Give them names: name=target.`);
      found.set(own, await pinnedNow(client, input.signal));
    });
  }
  return found;
}

interface NamedTarget {
  /** Undefined if the server says its own name. */
  readonly name: string | undefined;
  /** The words and options for this target alone. */
  readonly typed: Typed;
}

async function namedTargets(input: Typed): Promise<readonly NamedTarget[]> {
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
  if (names.length === 0)
    throw usageError('No server is configured here. Name a config, or servers as name=target.');
  return names.map((name) => ({ name, typed: alone(name) }));
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
