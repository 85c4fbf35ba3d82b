// Compares two results by what they mean: the order of fields, fresh ids and times, metadata and removed secrets make no difference.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { REDACTED as HIDDEN } from '../../protocol/secrets/text.js';
import { REMOVED } from '../../testing/recording/secrets.js';
import { isTime, steady } from './fresh-values.js';

export interface ValueChange {
  /** The place, such as `structuredContent.items[0].price`. */
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface CompareOptions {
  /** Names of fields, or ends of paths such as `order.total`, that are not compared. */
  readonly ignore: readonly string[];
  /** Whether ids and times that look fresh are compared as well. */
  readonly strict: boolean;
  /** Whether the values are those of a program, and not results of the protocol: metadata and the order of lists count then. Default: false. */
  readonly isWhole?: boolean;
}

const MAX_CHANGES = 100;
const MAX_JSON_TEXT = 1_000_000;
/** They say how a result is carried and cached, not what it is. */
const NOISE = new Set(['_meta', 'requestState', 'ttlMs', 'cacheScope', 'nextCursor']);
/** Lists of the protocol, whose order means nothing, with the field that identifies an entry. */
const LISTS: Readonly<Record<string, string>> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
};

/** Every difference between two values. */
export function compareValues(
  before: unknown,
  after: unknown,
  options: CompareOptions,
): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  const { isWhole = false } = options;

  function compare(one: unknown, other: unknown, path: string): void {
    if (changes.length >= MAX_CHANGES || isIgnored(path)) return;
    if (one === undefined && other === undefined) return;
    if (one === undefined) return void changes.push({ path, change: 'added', after: other });
    if (one === REMOVED) return;
    if (other === undefined) return void changes.push({ path, change: 'removed', before: one });
    if (Array.isArray(one) && Array.isArray(other)) return compareArrays(one, other, path);
    if (isObject(one) && isObject(other)) return compareObjects(one, other, path);
    if (typeof one === 'string' && typeof other === 'string') return compareText(one, other, path);
    if (Object.is(one, other) || areTimes(one, other, path)) return;
    changes.push({ path, change: 'changed', before: one, after: other });
  }

  function compareObjects(one: JsonObject, other: JsonObject, path: string): void {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (isWhole || !NOISE.has(name))
        compare(ownField(one, name), ownField(other, name), joined(path, name));
  }

  function compareArrays(one: readonly unknown[], other: readonly unknown[], path: string): void {
    const key = isWhole ? undefined : LISTS[path];
    if (key !== undefined) return compareLists(byKey(one, key), byKey(other, key), path);
    for (let at = 0; at < Math.max(one.length, other.length); at++)
      compare(one[at], other[at], `${path}[${at}]`);
  }

  function compareLists(
    one: ReadonlyMap<string, unknown>,
    other: ReadonlyMap<string, unknown>,
    path: string,
  ): void {
    for (const name of new Set([...one.keys(), ...other.keys()]))
      compare(one.get(name), other.get(name), `${path}[${JSON.stringify(name)}]`);
  }

  function compareText(one: string, other: string, path: string): void {
    const [plain, fresh] = options.strict ? [one, other] : [steady(one), steady(other)];
    if (plain === fresh || (plain.includes(HIDDEN) && fits(plain, fresh))) return;
    const [first, second] = [fromJson(one), fromJson(other)];
    if (first !== undefined && second !== undefined) return compare(first, second, path);
    changes.push({ path, change: 'changed', before: one, after: other });
  }

  function isIgnored(path: string): boolean {
    return options.ignore.some((name) => path === name || path.endsWith(`.${name}`));
  }

  function areTimes(one: unknown, other: unknown, path: string): boolean {
    return !options.strict && isTime(one, path) && isTime(other, path);
  }

  compare(before, after, '');
  return changes;
}

/** Whether a string is the recorded one, with something in the place of each secret. */
function fits(recorded: string, text: string): boolean {
  const parts = recorded.split(HIDDEN);
  const last = parts.pop() ?? '';
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = text.indexOf(part, at);
    if (found === -1 || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** The object or array that a string is the JSON of. */
function fromJson(text: string): unknown {
  return text.length > MAX_JSON_TEXT || !/^\s{0,100}[[{]/.test(text) ? undefined : tryParse(text);
}

function byKey(items: readonly unknown[], key: string): ReadonlyMap<string, unknown> {
  return new Map(items.map((item, at) => [isObject(item) ? String(item[key]) : String(at), item]));
}

function ownField(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function joined(path: string, name: string): string {
  const part = /^[A-Za-z_$][\w$-]{0,100}$/.test(name) ? name : `[${JSON.stringify(name)}]`;
  return path === '' || part.startsWith('[') ? `${path}${part}` : `${path}.${part}`;
}
