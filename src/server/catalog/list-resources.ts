// Lists the resources of a server whose templates have `list`: for each request, because the list may differ from caller to
// caller.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedResource } from '../../protocol/model/model.js';
import type { Gate } from '../access/gate.js';
import type { Context } from '../context/context.js';
import type { ResourceEntry } from '../define/resource.js';
import { listDescription } from './description.js';
import type { Registry } from './registry.js';
import type { CompiledTemplate } from './resources.js';

/** Runs a function with the context that `list` needs. */
type WithContext = <T>(call: Call, work: (ctx: Context) => Promise<T>) => Promise<T>;

/** Serves `resources/list` if a template has `list`: first the server's own resources, then those of the templates. */
export async function listResources(
  registry: Registry,
  call: Call,
  { gate, withContext }: { readonly gate: Gate; readonly withContext: WithContext },
): Promise<Outcome> {
  const start = readCursor(call.params['cursor']);
  const templates = (await registry.templates.entries(call)).filter(({ list }) => list !== undefined);
  const lists = await withContext(call, (ctx) =>
    Promise.all(templates.map(async (template) => entriesOf(template, ctx))),
  );
  const fixed = (await registry.resources.entries(call)).map(
    ({ uri, listed }): Entry => ({ uri, toListed: () => listed }),
  );
  const readable = registry.guardsResources ? await onlyReadable(lists.flat()) : lists.flat();
  const entries = withoutDuplicates([...fixed, ...readable]);
  const from = start === undefined ? 0 : positionAfter(entries, start);
  const to = from + registry.pageSize;
  const page = entries.slice(from, to).map(({ toListed }) => toListed());
  return registry.complete({
    resources: page,
    ...(to < entries.length && { nextCursor: cursorAt(to, entries[to - 1]?.uri) }),
    // The list may differ from caller to caller, and its changes are not announced.
    ttlMs: 0,
    cacheScope: 'private',
  });

  // The resource or template that `resources/read` would find decides, which need not be the template that listed the URI.
  async function onlyReadable(listed: readonly Entry[]): Promise<readonly Entry[]> {
    const verdicts = await Promise.all(
      listed.map(({ uri }) => {
        const match = registry.findResource(uri);
        const access = match?.source.access;
        return access === undefined ? 'allowed' : gate.judgeUse(call, access, match?.values);
      }),
    );
    return listed.filter((_, at) => verdicts[at] === 'allowed');
  }
}

interface Entry {
  readonly uri: string;
  /** Checks and converts the entry. Only the entries of the requested page need this. */
  readonly toListed: () => ListedResource;
}

async function entriesOf(template: CompiledTemplate, ctx: Context): Promise<readonly Entry[]> {
  const items: unknown = await template.list?.(ctx);
  if (!Array.isArray(items)) throw listError(template, 'must return an array of URIs or of { uri, name, … }');
  return items.map((item: unknown, index): Entry => {
    const entry = typeof item === 'string' ? { uri: item } : item;
    if (!isObject(entry) || typeof entry['uri'] !== 'string')
      throw listError(template, `returned an entry without a string "uri", at [${index}]`);
    const { uri } = entry;
    return { uri: uri as string, toListed: () => listEntry(template, entry as unknown as ResourceEntry) };
  });
}

const entryKeys = {
  uri: true,
  name: true,
  title: true,
  description: true,
  icons: true,
  tags: true,
  meta: true,
  mimeType: true,
  annotations: true,
  size: true,
} satisfies KeysOf<ResourceEntry>;

function listEntry(template: CompiledTemplate, entry: ResourceEntry): ListedResource {
  const { uri, name = uri, mimeType = template.mimeType, annotations, size } = entry;
  const [unknown] = unknownKeys(entry, entryKeys, { _meta: 'meta' });
  if (unknown !== undefined)
    throw listError(template, `returned an entry with the unknown key "${unknown.key}". ${unknown.hint}`);
  if (template.template.match(uri) === undefined)
    throw listError(template, `returned the URI "${shorten(uri, 256)}", which the template does not match`);
  return {
    uri,
    name,
    ...listDescription(entry),
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations && { annotations }),
    ...(size !== undefined && { size }),
  };
}

// A resource with a fixed URI comes before a template that lists the same URI, as in `resources/read`.
function withoutDuplicates(entries: readonly Entry[]): readonly Entry[] {
  const uris = new Set<string>();
  return entries.filter(({ uri }) => !uris.has(uri) && uris.add(uri));
}

interface ListPosition {
  readonly index: number;
  readonly uri: string;
}

// The page starts after the last entry of the previous page or, if that entry is gone, at its index.
function positionAfter(entries: readonly Entry[], { index, uri }: ListPosition): number {
  const at = entries.findIndex((entry) => entry.uri === uri);
  return at === -1 ? index : at + 1;
}

function cursorAt(index: number, uri = ''): string {
  return encodeBase64Url(new TextEncoder().encode(`${index} ${uri}`));
}

function readCursor(cursor: unknown): ListPosition | undefined {
  if (cursor === undefined) return undefined;
  const bytes = typeof cursor === 'string' ? decodeBase64Url(cursor) : undefined;
  const text = bytes === undefined ? '' : new TextDecoder().decode(bytes);
  const space = text.indexOf(' ');
  const index = space > 0 ? Number(text.slice(0, space)) : Number.NaN;
  if (!Number.isSafeInteger(index) || index < 0)
    throw new McpError('invalid_params', 'Unknown cursor. Start again without a cursor.');
  return { index, uri: text.slice(space + 1) };
}

function listError({ uri }: CompiledTemplate, problem: string): TypeError {
  return new TypeError(`"list" of the resource "${uri}" ${problem}`);
}
