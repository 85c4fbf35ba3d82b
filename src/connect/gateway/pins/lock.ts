// The lock file: a digest of every definition of every server.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { canonical } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import { faultOf } from '../../../protocol/encoding/json-fault.js';
import { sha256 } from '../../../protocol/encoding/sha256.js';
import { McpError } from '../../../protocol/errors.js';
import { lists } from '../../routing/lists.js';
import type { ListName } from '../../routing/router.js';

/** The digests of one list, by name or URI. */
export type PinnedList = ReadonlyMap<string, string>;

/** The digests of one server. A list is missing if it was never seen. */
export interface PinnedServer {
  readonly instructions?: string | undefined;
  readonly lists: Readonly<Partial<Record<ListName, PinnedList>>>;
  /** The URL or the file that was pinned, if no configuration names it. Only the command reads this. */
  readonly target?: string | undefined;
}

export type Lock = ReadonlyMap<string, PinnedServer>;

const VERSION = 1;
const listNames = Object.keys(lists) as ListName[];
const encoder = new TextEncoder();

/** A digest of a definition without its name, by which a renamed one is found again. */
function digestOfDefinition(kind: ListName, definition: JsonObject): string {
  const { [lists[kind].key]: _, ...content } = definition;
  return digestOfText(canonical(content));
}

/** A digest of a string. */
export function digestOfText(text: string): string {
  return encodeBase64Url(sha256(encoder.encode(text)));
}

/** The digests of a list. Two definitions of one name have a digest that none of them has. */
export function pinList(kind: ListName, items: readonly JsonObject[]): PinnedList {
  const digests = new Map<string, string>();
  for (const item of items) {
    const name = item[lists[kind].key] as string;
    const digest = digestOfDefinition(kind, item);
    const known = digests.get(name);
    digests.set(name, known === undefined || known === digest ? digest : digestOfText(known + digest));
  }
  return digests;
}

/** Reads a lock file. A file that is damaged is an error: whoever has damaged it must not decide what is trusted. */
export function parseLock(text: string, path: string): Lock {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, reason } = faultOf(text);
    throw damaged(path, `it is not JSON: line ${line}, column ${column}: ${reason}`);
  }
  if (!isObject(value) || value['version'] !== VERSION) throw damaged(path, `"version" must be ${VERSION}`);
  const { servers } = value;
  if (!isObject(servers)) throw damaged(path, '"servers" must be an object');
  return new Map(Object.entries(servers).map(([name, server]) => [name, parseServer(name, server, path)]));
}

function parseServer(name: string, value: unknown, path: string): PinnedServer {
  if (!isObject(value)) throw damaged(path, `servers.${name} must be an object`);
  const { instructions, target } = value;
  if (instructions !== undefined && typeof instructions !== 'string')
    throw damaged(path, `servers.${name}.instructions must be a digest`);
  if (target !== undefined && typeof target !== 'string')
    throw damaged(path, `servers.${name}.target must be a URL or a file`);
  const found = listNames.flatMap((kind) => {
    const list = value[kind];
    if (list === undefined) return [];
    if (!isObject(list) || !Object.values(list).every((digest) => typeof digest === 'string'))
      throw damaged(path, `servers.${name}.${kind} must be an object of digests`);
    return [[kind, new Map(Object.entries(list as Record<string, string>))] as const];
  });
  return { instructions, lists: Object.fromEntries(found), target };
}

function damaged(path: string, why: string): McpError {
  return new McpError(
    'invalid_params',
    `The lock file ${path} is damaged: ${why}. Restore it, or remove it to pin everything anew.`,
  );
}

/** Writes a lock file: sorted, so that a version control system shows what has changed. */
export function printLock(lock: Lock): string {
  const servers = sorted(lock).map(([name, { instructions, lists: pinned, target }]) => {
    const parts = listNames.flatMap((kind) => {
      const list = pinned[kind];
      // Files that were written before there were events stay as they are.
      return list === undefined || (kind === 'events' && list.size === 0)
        ? []
        : [[kind, Object.fromEntries(sorted(list))] as const];
    });
    // JSON leaves out what is undefined.
    return [name, { target, instructions, ...Object.fromEntries(parts) }];
  });
  return `${JSON.stringify({ version: VERSION, servers: Object.fromEntries(servers) }, null, 2)}\n`;
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}
