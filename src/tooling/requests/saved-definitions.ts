// The definitions that saved requests use: fetched, kept, and compared with what they were.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { canonical } from '../../protocol/canonical.js';
import { McpError } from '../../protocol/errors.js';
import { cleanLine } from '../clean.js';
import { compareSchemas } from '../manifest/schema-change.js';
import { compareValues } from '../tape/compare-values.js';
import { type RequestProblem, wasAndIs } from './expectations.js';
import { KINDS, type RequestKind, type SavedList } from './saved-request.js';

/** The fields of a definition that a model or a program depends on, in the order in which they are written. */
const FIELDS: Readonly<Record<SavedList, readonly string[]>> = {
  tools: ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'],
  resources: ['name', 'title', 'description', 'mimeType'],
  prompts: ['title', 'description', 'arguments'],
};
const KEYS: Readonly<Record<SavedList, string>> = { tools: 'name', resources: 'uri', prompts: 'name' };
const MAX_SAID = 10;

/** The definitions that a server lists now, by name or URI. */
export type ListedDefinitions = Readonly<Record<SavedList, ReadonlyMap<string, JsonObject>>>;

/** Fetches the lists that are needed. A list that the server does not have is empty. */
export async function listDefinitions(
  client: Client,
  { kinds, signal }: { readonly kinds: ReadonlySet<RequestKind>; readonly signal: AbortSignal },
): Promise<ListedDefinitions> {
  const lists = (Object.entries(KINDS) as [RequestKind, SavedList][]).map(async ([kind, list]) => {
    const items = kinds.has(kind) ? await fetchList(client, list, signal) : [];
    return [list, new Map(items.map((item) => [String(item[KEYS[list]]), keptFields(list, item)]))] as const;
  });
  return Object.fromEntries(await Promise.all(lists)) as unknown as ListedDefinitions;
}

async function fetchList(
  client: Client,
  list: SavedList,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  if (client.server.capabilities[list] === undefined) return [];
  try {
    return (await client[list]({ signal }).all()) as unknown as readonly JsonObject[];
  } catch (error) {
    if (McpError.is(error) && error.code === 'method_not_found') return [];
    throw error;
  }
}

/** The part of a definition that is kept in the file. */
export function keptFields(list: SavedList, definition: Readonly<JsonObject>): JsonObject {
  const entries = FIELDS[list]
    .filter((field) => definition[field] !== undefined)
    .map((field) => [field, definition[field]] as const);
  return Object.fromEntries(entries);
}

/** Every difference between a definition as it was and as it is, in sentences. */
export function definitionChanges(
  kind: RequestKind,
  was: JsonObject,
  is: JsonObject | undefined,
): readonly RequestProblem[] {
  if (is === undefined)
    return [{ kind: 'definition', says: `The server does not list this ${kind} any more.` }];
  return FIELDS[KINDS[kind]]
    .filter((field) => canonical(was[field] ?? null) !== canonical(is[field] ?? null))
    .flatMap((field) => fieldChanges(field, was[field], is[field]));
}

function fieldChanges(field: string, was: unknown, is: unknown): readonly RequestProblem[] {
  if (field === 'inputSchema' || field === 'outputSchema') return schemaChanges(field, was, is);
  if (isObject(was) && isObject(is)) return said('definition', `Its ${field} changed`, placesOf(was, is));
  if (Array.isArray(was) && Array.isArray(is))
    return said('schema', `Its ${field} changed`, placesOf(byName(was), byName(is)));
  const kind = field === 'description' ? 'description' : 'definition';
  return [{ kind, says: wasAndIs(`Its ${field}`, was, is) }];
}

function schemaChanges(
  field: 'inputSchema' | 'outputSchema',
  was: unknown,
  is: unknown,
): readonly RequestProblem[] {
  const flow = field === 'inputSchema' ? 'input' : 'output';
  const what = `Its ${flow} schema`;
  if (!isObject(was) || !isObject(is))
    return [
      {
        kind: 'schema',
        says:
          was === undefined
            ? `${what} is new.`
            : is === undefined
              ? `${what} was removed.`
              : `${what} changed.`,
      },
    ];
  const changes = compareSchemas(was, is, flow).map(({ path, says }) =>
    path === '' ? says : `${path}: ${says}`,
  );
  // A change that is not about which values are allowed, such as that of the description of an argument.
  return said('schema', `${what} changed`, changes.length > 0 ? changes : placesOf(was, is));
}

function placesOf(was: JsonObject, is: JsonObject): readonly string[] {
  return compareValues(was, is, { ignore: [], strict: true, isWhole: true }).map(
    ({ path, change, before, after }) => {
      const place = cleanLine(path, 120);
      if (change === 'added') return `${place} is new`;
      if (change === 'removed') return `${place} was removed`;
      return wasAndIs(place, before, after).slice(0, -1);
    },
  );
}

function byName(items: readonly unknown[]): JsonObject {
  return Object.fromEntries(
    items.map((item, at) => [isObject(item) ? String(item['name']) : String(at), item]),
  );
}

function said(
  kind: RequestProblem['kind'],
  what: string,
  changes: readonly string[],
): readonly RequestProblem[] {
  if (changes.length === 0) return [{ kind, says: `${what}.` }];
  const shown = changes
    .slice(0, MAX_SAID)
    .map((change) => ({ kind, says: `${what}: ${cleanLine(change, 300)}.` }));
  const more = changes.length - shown.length;
  return more > 0
    ? [...shown, { kind, says: `${what} in ${more} more ${more === 1 ? 'place' : 'places'}.` }]
    : shown;
}
