// The lists of all members, merged into one.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { readParts } from '../../protocol/uri-template/grammar.js';
import { createMatcher } from '../../protocol/uri-template/match.js';
import type { ListedKeys, Member } from './member.js';
import type { Membership } from './members.js';

export type ListName = keyof ListedKeys;

/** The field of each list, the key of its entries, and whether the key has the server's name as a prefix. */
const lists = {
  tools: { field: 'tools', key: 'name', isPrefixed: true, capability: 'tools', one: 'tool' },
  prompts: { field: 'prompts', key: 'name', isPrefixed: true, capability: 'prompts', one: 'prompt' },
  resources: { field: 'resources', key: 'uri', isPrefixed: false, capability: 'resources', one: 'resource' },
  templates: {
    field: 'resourceTemplates',
    key: 'uriTemplate',
    isPrefixed: false,
    capability: 'resources',
    one: 'template',
  },
} as const;

/** Spec, Tools, Tool Names. */
const MAX_NAME = 128;
export const noLimit: { readonly timeoutMs: number; readonly maxTimeoutMs: number } = {
  timeoutMs: Number.POSITIVE_INFINITY,
  maxTimeoutMs: Number.POSITIVE_INFINITY,
};

/** The lists of all members, in order, as one page. */
export async function listAll(group: Membership, kind: ListName, signal: AbortSignal): Promise<Outcome> {
  const members = [...group.members.values()];
  const parts = await Promise.all(members.map((member) => listOf(group, member, kind, signal)));
  const { field, key, isPrefixed, one } = lists[kind];
  const owners = new Map<string, string>();
  const items: JsonObject[] = [];
  members.forEach(({ name: server }, at) => {
    for (const item of parts[at] ?? []) {
      const own = item[key] as string;
      const name = isPrefixed ? `${server}_${own}` : own;
      const owner = owners.get(name);
      if (isPrefixed && name.length > MAX_NAME) {
        group.problemOnce(
          `${server}: the ${one} "${shorten(own, MAX_NAME)}" is left out: with the server's name as a prefix, its name is longer than ${MAX_NAME} characters`,
        );
      } else if (owner === undefined) {
        owners.set(name, server);
        items.push({ ...item, [key]: name });
      } else if (owner !== server) {
        group.problemOnce(
          `${server}: the ${one} "${shorten(name, 256)}" is left out: the server ${owner}, which comes first, has a ${one} of the same name`,
        );
      }
    }
  });
  // The members cache their lists; the group's list changes whenever a member is added or removed.
  return { resultType: 'complete', [field]: items, ttlMs: 0, cacheScope: 'private' };
}

/** The list of one member. Undefined if that fails, which is reported; the other members are not affected. */
async function listOf(
  group: Membership,
  member: Member,
  kind: ListName,
  signal: AbortSignal,
): Promise<readonly JsonObject[] | undefined> {
  const { key, capability, field } = lists[kind];
  return group.attempt(member, { signal, unavailable: `its ${field} are left out` }, async (client, own) => {
    const items =
      client.server.capabilities[capability] === undefined ? [] : await fetchList(client, kind, own);
    const valid = items.filter((item) => isObject(item) && typeof item[key] === 'string');
    member.listedKeys[kind] = (kind === 'templates' ? templatesOf(valid) : keysOf(valid, key)) as never;
    return valid;
  });
}

async function fetchList(
  client: Client,
  kind: ListName,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  try {
    return (await client[kind]({ signal, ...noLimit }).all()) as readonly object[] as readonly JsonObject[];
  } catch (error) {
    // Some servers declare resources but lack some of the methods.
    if (McpError.is(error) && error.code === 'method_not_found') return [];
    throw error;
  }
}

function keysOf(items: readonly JsonObject[], key: string): ReadonlySet<string> {
  return new Set(items.map((item) => item[key] as string));
}

function templatesOf(items: readonly JsonObject[]): NonNullable<ListedKeys['templates']> {
  const templates = new Map<string, (uri: string) => object | undefined>();
  for (const { uriTemplate } of items) {
    try {
      templates.set(uriTemplate as string, createMatcher(readParts(uriTemplate as string)));
    } catch {
      // An invalid template matches nothing.
    }
  }
  return templates;
}

/** The keys of a member's list, which is fetched if it was not fetched before. */
export async function listedKeysOf<K extends ListName>(
  group: Membership,
  member: Member,
  kind: K,
  signal: AbortSignal,
): Promise<ListedKeys[K]> {
  if (member.listedKeys[kind] === undefined) await listOf(group, member, kind, signal);
  return member.listedKeys[kind];
}
