// A manifest: everything that a server offers, as one JSON document that is the same for the same server.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isMarkedRemoved, REMOVED } from '../../protocol/removed-tools.js';

/** The lists of a manifest, with the field that identifies an entry. */
export const LISTS = {
  tools: { key: 'name', one: 'tool' },
  resources: { key: 'uri', one: 'resource' },
  templates: { key: 'uriTemplate', one: 'template' },
  prompts: { key: 'name', one: 'prompt' },
} as const;

export type ManifestList = keyof typeof LISTS;
export const LIST_NAMES = Object.keys(LISTS) as readonly ManifestList[];

export interface Manifest extends Readonly<Record<ManifestList, readonly JsonObject[]>> {
  readonly fullmcp: 'manifest';
  readonly version: 1;
  /** The name, the version and the title of the server. */
  readonly server: JsonObject;
  /** The revision of the protocol that was spoken. */
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** The tools that are not listed any more, and whose versions still answer callers. */
  readonly removed?: readonly JsonObject[];
}

/** The options of `manifestOf`. */
export interface ManifestOptions {
  /** Called with each list that the server refuses; the manifest has an empty one then. Default: the manifest fails. */
  readonly onRefused?: ((list: ManifestList, error: McpError) => void) | undefined;
  /** Whether removed tools are asked for. Default: false, because a proxy or a cache in between may keep the list. */
  readonly withRemoved?: boolean;
}

/** Reads everything that a connected server offers. */
export async function manifestOf(
  client: Client,
  { onRefused, withRemoved = false }: ManifestOptions = {},
): Promise<Manifest> {
  const { info, revision, capabilities, instructions } = client.server;
  const fetched = await Promise.all(
    LIST_NAMES.map((list) =>
      fetchList(client, list, withRemoved).catch((error: unknown) => {
        if (onRefused === undefined || !isRefusal(error)) throw error;
        onRefused(list, error);
        return [];
      }),
    ),
  );
  const lists = Object.fromEntries(LIST_NAMES.map((list, at) => [list, fetched[at]])) as Record<
    ManifestList,
    readonly JsonObject[]
  >;
  const removed = lists.tools.filter(isMarkedRemoved);
  return {
    fullmcp: 'manifest',
    version: 1,
    server: { ...info },
    revision,
    capabilities: sortedKeys(capabilities as JsonObject),
    ...(instructions !== undefined && { instructions }),
    ...lists,
    ...(removed.length > 0 && {
      tools: lists.tools.filter((tool) => !isMarkedRemoved(tool)),
      removed,
    }),
  };
}

/** Whether a server answered, but with an error. On stdio, the refusal of a caller is an internal error. */
function isRefusal(error: unknown): error is McpError {
  return McpError.is(error) && ['unauthorized', 'forbidden', 'internal_error'].includes(error.code);
}

async function fetchList(
  client: Client,
  list: ManifestList,
  withRemoved: boolean,
): Promise<readonly JsonObject[]> {
  const capability = list === 'templates' ? 'resources' : list;
  if (client.server.capabilities[capability] === undefined) return [];
  try {
    const options = withRemoved && list === 'tools' ? { meta: { [REMOVED]: true } } : {};
    const items = (await client[list](options).all()) as readonly unknown[];
    return sortedBy(items as readonly JsonObject[], LISTS[list].key);
  } catch (error) {
    // Some servers declare resources but lack the method for templates.
    if (McpError.is(error) && error.code === 'method_not_found') return [];
    throw error;
  }
}

/** Reads a manifest that was saved. Returns undefined if this JSON is not a manifest. */
export function parseManifest(value: unknown): Manifest | undefined {
  if (!isObject(value) || value['fullmcp'] !== 'manifest') return undefined;
  const problem = problemOf(value);
  if (problem !== undefined) throw new TypeError(problem);
  return value as unknown as Manifest;
}

function problemOf(value: JsonObject): string | undefined {
  if (value['version'] !== 1) return '"version" must be 1';
  for (const field of ['server', 'capabilities'])
    if (!isObject(value[field])) return `"${field}" must be an object`;
  if (typeof value['revision'] !== 'string') return '"revision" must be a string';
  if (!['string', 'undefined'].includes(typeof value['instructions']))
    return '"instructions" must be a string';
  for (const list of [...LIST_NAMES, 'removed'] as const) {
    const { key } = LISTS[list === 'removed' ? 'tools' : list];
    const items = value[list];
    if (list === 'removed' && items === undefined) continue;
    if (!Array.isArray(items) || !items.every((item) => isObject(item) && typeof item[key] === 'string'))
      return `"${list}" must be an array of objects that have a "${key}"`;
  }
  return undefined;
}

function sortedBy(items: readonly JsonObject[], key: string): readonly JsonObject[] {
  return [...items].sort((one, other) => order(String(one[key]), String(other[key])));
}

function sortedKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => order(one, other)));
}

// By code units: the order must not depend on the language of the machine.
function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
