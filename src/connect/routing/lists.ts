// The lists of all members, merged into one.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { TOOL_PREFIX } from '../../protocol/tables/meta-keys.js';
import { readParts } from '../../protocol/uri-template/grammar.js';
import { createMatcher } from '../../protocol/uri-template/match.js';
import type { ListedKeys, ListName, Offer, Router, WantedItem } from './router.js';

/** The field of each list, the key of its entries, and whether the key has the server's name as a prefix. */
export const lists = {
  tools: { field: 'tools', key: 'name', isPrefixed: true, capability: 'tools', one: 'tool' },
  prompts: { field: 'prompts', key: 'name', isPrefixed: true, capability: 'prompts', one: 'prompt' },
  resources: { field: 'resources', key: 'uri', isPrefixed: false, capability: 'resources', one: 'resource' },
  events: { field: 'events', key: 'name', isPrefixed: true, capability: 'events', one: 'event' },
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

/** The lists of all members, in order, as one page. */
export async function listAll(router: Router, kind: ListName, call: Call): Promise<Outcome> {
  const members = [...router.members.values()];
  const parts = await Promise.all(members.map((member) => member.list(kind, call)));
  const { field, key, isPrefixed, one } = lists[kind];
  const owners = new Map<string, string>();
  const items: JsonObject[] = [];
  members.forEach(({ name: server }, at) => {
    for (const item of parts[at] ?? []) {
      const own = item[key] as string;
      const name = isPrefixed ? `${server}_${own}` : own;
      const owner = owners.get(name);
      if (isPrefixed && name.length > MAX_NAME) {
        router.problemOnce(
          `${server}: the ${one} "${shorten(own, MAX_NAME)}" is left out: with the server's name as a prefix, its name is longer than ${MAX_NAME} characters`,
        );
      } else if (owner === undefined) {
        owners.set(name, server);
        const entry = kind === 'events' ? withoutWebhooks(item) : { ...item, ...appMeta(item, `${server}_`) };
        if (entry !== undefined) items.push({ ...entry, [key]: name });
      } else if (owner !== server) {
        router.problemOnce(
          `${server}: the ${one} "${shorten(name, 256)}" is left out: the server ${owner}, which comes first, has a ${one} of the same name`,
        );
      }
    }
  });
  // The list changes whenever a server is added or removed.
  return { resultType: 'complete', [field]: items, ttlMs: 0, cacheScope: 'private' };
}

/** A type of events without webhooks, which would have the name that its server uses. Undefined if no other way of delivery is left. */
export function withoutWebhooks(type: JsonObject): JsonObject | undefined {
  const { delivery } = type;
  const left = Array.isArray(delivery) ? delivery.filter((mode) => mode !== 'webhook') : [];
  return left.length === 0 ? undefined : { ...type, delivery: left };
}

/** The `_meta` of a tool that has an app, with the prefix of the tools that the app calls. */
function appMeta({ _meta }: JsonObject, prefix: string): JsonObject | undefined {
  if (!isObject(_meta) || !isObject(_meta['ui'])) return undefined;
  return { _meta: { ..._meta, [TOOL_PREFIX]: `${prefix}${_meta[TOOL_PREFIX] ?? ''}` } };
}

/** The keys of a list, by which calls find their server. */
export function listedKeys<K extends ListName>(kind: K, items: readonly JsonObject[]): ListedKeys[K] {
  const { key } = lists[kind];
  return (kind === 'templates' ? templatesOf(items) : keysOf(items, key)) as ListedKeys[K];
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

/** The offer of a server that shows the same lists to everybody. */
export function offerOf({ kind, name }: WantedItem, keys: ListedKeys): Offer {
  if (kind !== 'resources') {
    const listed = keys[kind];
    if (listed === undefined) return 'unknown';
    return listed.has(name) ? 'listed' : 'possible';
  }
  const { resources, templates } = keys;
  if (resources?.has(name)) return 'listed';
  if (templates !== undefined && matching(templates, name).length > 0) return 'fits';
  return resources === undefined || templates === undefined ? 'unknown' : 'possible';
}

/** The templates that match a URI. */
export function matching(templates: NonNullable<ListedKeys['templates']>, uri: string): readonly string[] {
  return [...templates].filter(([, match]) => match(uri) !== undefined).map(([template]) => template);
}

/** The lists that say whether a server has something. */
export function listsFor(kind: ListName): readonly ListName[] {
  return kind === 'resources' ? ['resources', 'templates'] : [kind];
}
