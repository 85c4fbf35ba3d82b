// Lists the resources of a server whose templates have `list`: for each request, because the list may differ from caller to
// caller.

import type { Call, Outcome } from '../../protocol/call.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedResource } from '../../protocol/model/model.js';
import type { Gate } from '../access/gate.js';
import type { Context } from '../context/context.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { Logger } from '../state/log.js';
import { type ListedPart, type Position, readListed } from './listed-entries.js';
import type { Registry } from './registry.js';

/** Runs a function with the context that `list` needs. */
type WithContext = <T>(call: Call, work: (ctx: Context) => Promise<T>, home?: HandlerHome) => Promise<T>;

/** The parts of the server that list resources. */
export interface ListResourcesParts {
  readonly gate: Gate;
  readonly withContext: WithContext;
  readonly log: Logger;
}

/** The place where a page begins: in the list of a template, or in the list of the server's own resources, whose name is empty. */
interface Cursor {
  readonly list: string;
  readonly position: Position | undefined;
}

/**
 * Serves `resources/list` if a template has `list`: first the server's own resources, then those of the templates, one after the
 * other. A page calls only the lists that it needs.
 */
export async function listResources(
  registry: Registry,
  call: Call,
  { gate, withContext, log }: ListResourcesParts,
): Promise<Outcome> {
  const start = readCursor(call.params['cursor']);
  const own = await registry.resources.entries(call);
  const templates = (await registry.templates.entries(call)).filter(({ list }) => list !== undefined);
  const lists = ['', ...templates.map(({ uri }) => uri)];
  const page = new Map<string, ListedResource>();
  let next = start ?? { list: '', position: undefined };
  let at = lists.indexOf(next.list);
  if (at === -1) throw unknownCursor();
  await withContext(call, async (ctx) => {
    while (at < lists.length && page.size < registry.pageSize) {
      const room = registry.pageSize - page.size;
      const position = at === 0 ? listOwn(next.position, room) : await listTemplate(ctx, room);
      if (position === undefined) at++;
      next = { list: lists[at] ?? '', position };
      if (position !== undefined) return;
    }
  });
  return registry.complete({
    resources: [...page.values()],
    ...(at < lists.length && { nextCursor: printCursor(next) }),
    // The list may differ from caller to caller, and its changes are not announced.
    ttlMs: 0,
    cacheScope: 'private',
  });

  function listOwn(position: Position | undefined, room: number): Position | undefined {
    const { index, after } = typeof position === 'object' ? position : { index: 0, after: '' };
    const known = own.findIndex(({ uri }) => uri === after);
    const from = known === -1 ? index : known + 1;
    for (const { uri, listed } of own.slice(from, from + room)) page.set(uri, listed);
    const to = from + room;
    return to < own.length ? { index: to, after: own[to - 1]?.uri ?? '' } : undefined;
  }

  async function listTemplate(ctx: Context, room: number): Promise<Position | undefined> {
    const template = templates[at - 1] as (typeof templates)[number];
    const part: ListedPart = {
      ...{ call, room, log, position: next.position },
      mayList: async (uris) =>
        Promise.all(uris.map((uri) => !page.has(uri) && !template.isHidden?.(uri) && isReadable(uri))),
    };
    const home = template.mounted?.home;
    const { entries, next: position } = await (home === undefined
      ? readListed(template, ctx, part)
      : withContext(call, (own) => readListed(template, own, part), home));
    for (const entry of entries) page.set(entry.uri, entry);
    return position;
  }

  // The resource or template that `resources/read` would find decides, which need not be the template that listed the URI. A resource
  // with a fixed URI has been listed already.
  function isReadable(uri: string): boolean | Promise<boolean> {
    if (registry.resources.has(uri)) return false;
    const match = registry.guardsResources ? registry.findResource(uri) : undefined;
    const access = match?.source.access;
    if (access === undefined) return true;
    const verdict = gate.judgeUse(call, access, match?.values);
    return verdict instanceof Promise ? verdict.then((it) => it === 'allowed') : verdict === 'allowed';
  }
}

function printCursor({ list, position }: Cursor): string {
  const parts = typeof position === 'object' ? [list, position.index, position.after] : [list, position ?? 0];
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(parts)));
}

function readCursor(cursor: unknown): Cursor | undefined {
  if (cursor === undefined) return undefined;
  const bytes = typeof cursor === 'string' ? decodeBase64Url(cursor) : undefined;
  try {
    const [list, position, after = ''] = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof list !== 'string' || typeof after !== 'string') throw unknownCursor();
    if (typeof position === 'string') return { list, position };
    if (!Number.isSafeInteger(position) || position < 0) throw unknownCursor();
    return { list, position: position === 0 ? undefined : { index: position, after } };
  } catch {
    throw unknownCursor();
  }
}

function unknownCursor(): McpError {
  return new McpError('invalid_params', 'Unknown cursor. Start again without a cursor.');
}
