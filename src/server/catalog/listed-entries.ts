// Reads the resources that a template lists: from an array, from an iterable, or page by page.

import { isIterable, iterate } from '../../async/iterate.js';
import { hasEnded, onEnd } from '../../async/lifetime.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { cancelledBy } from '../../protocol/errors.js';
import type { ListedResource } from '../../protocol/model/model.js';
import type { Context } from '../context/context.js';
import type { ResourceEntry, ResourcePage } from '../define/resource.js';
import type { Logger } from '../state/log.js';
import { listDescription } from './description.js';
import type { CompiledTemplate } from './resources.js';

/** The number of entries that one request reads from an iterable. The rest is not listed. */
const MAX_READ = 100_000;

/** The number of entries whose rules are checked for one request: a caller may see none of them. */
const MAX_CHECKED = 10_000;

const MAX_CURSOR_LENGTH = 4096;

/** The place in a list after which a page begins: the cursor of `list`, or an index and the URI of the entry before it. */
export type Position = string | Place;

interface Place {
  readonly index: number;
  readonly after: string;
}

/** The part of a list that is read. */
export interface ListedPart {
  readonly call: Call;
  /** The place where the part begins; undefined for the first one. */
  readonly position: Position | undefined;
  /** The largest number of entries. */
  readonly room: number;
  /** Whether each of these URIs may be listed. */
  readonly mayList: (uris: readonly string[]) => Promise<readonly boolean[]>;
  readonly log: Logger;
}

interface Part {
  readonly entries: readonly ListedResource[];
  /** The place where the next part begins; undefined at the end of the list. */
  readonly next: Position | undefined;
}

interface Entry {
  readonly index: number;
  readonly uri: string;
  readonly item: unknown;
}

/** Calls `list` of a template and reads one part of what it returns. */
export async function readListed(template: CompiledTemplate, ctx: Context, part: ListedPart): Promise<Part> {
  const { position, room } = part;
  const cursor = typeof position === 'string' ? position : undefined;
  const value: unknown = await template.list?.(ctx, { cursor, limit: room });
  if (isPage(value)) return readPage(template, value, part);
  if (!isIterable(value))
    throw listError(
      template,
      'must return an array or an iterable of URIs or of { uri, name, … }, or a page { entries, next }',
    );
  const start = typeof position === 'object' ? position : { index: 0, after: '' };
  if (!Array.isArray(value)) return new Reader(template, part, start).read(value);
  const items = withoutDuplicates(template, value);
  const from = startIn(items, start);
  return new Reader(template, part, { index: from, after: '' }).read(items.slice(from), from);
}

function isPage(value: unknown): value is ResourcePage {
  return isObject(value) && !isIterable(value) && Array.isArray(value['entries']);
}

async function readPage(
  template: CompiledTemplate,
  { entries, next }: ResourcePage,
  { mayList }: ListedPart,
): Promise<Part> {
  if (next !== undefined && (typeof next !== 'string' || next.length > MAX_CURSOR_LENGTH))
    throw listError(
      template,
      `returned a page whose "next" is not a string of at most ${MAX_CURSOR_LENGTH} characters`,
    );
  const all = withoutDuplicates(template, entries).map((item, index) => toEntry(template, item, index));
  const verdicts = await mayList(all.map(({ uri }) => uri));
  return {
    entries: all.filter((_, at) => verdicts[at]).map((entry) => toListed(template, entry)),
    next,
  };
}

// The page starts after the last entry of the previous page or, if that entry is gone, at its index.
function startIn(items: readonly unknown[], { index, after }: Place): number {
  const at = after === '' ? -1 : items.findIndex((item) => uriOf(item) === after);
  return at === -1 ? index : at + 1;
}

function withoutDuplicates(template: CompiledTemplate, items: readonly unknown[]): readonly unknown[] {
  const uris = new Set<string>();
  return items.filter((item, index) => {
    const { uri } = toEntry(template, item, index);
    return !uris.has(uri) && uris.add(uri);
  });
}

/** Reads one part of an iterable. */
class Reader {
  readonly #template: CompiledTemplate;
  readonly #part: ListedPart;
  readonly #start: Place;
  #hasFoundStart = false;
  /** The entries that were read, and whose rules were not checked yet. */
  #unchecked: Entry[] = [];
  /** The entries of the part, and one more if there is a next part. */
  #entries: Entry[] = [];
  #checked = 0;
  #next: Position | undefined;

  constructor(template: CompiledTemplate, part: ListedPart, start: Place) {
    this.#template = template;
    this.#part = part;
    this.#start = start;
  }

  /** Reads the part from a source that begins with the entry at `base`. */
  async read(source: Iterable<unknown> | AsyncIterable<unknown>, base = 0): Promise<Part> {
    const { call, room } = this.#part;
    await iterate(source, {
      each: (item, index) => (index < MAX_READ ? this.#take(item, base + index) : this.#giveUp()),
      onEnd: (end) => {
        const stop = (): void => end(cancelledBy(call.signal.reason));
        if (hasEnded(call)) stop();
        return onEnd(call, stop);
      },
    });
    await this.#check();
    const last = this.#entries[room - 1];
    if (this.#entries.length > room && last !== undefined)
      this.#next = { index: last.index + 1, after: last.uri };
    return {
      entries: this.#entries.slice(0, room).map((entry) => toListed(this.#template, entry)),
      next: this.#next,
    };
  }

  /** Takes an item. Returns false if no more are needed. */
  #take(item: unknown, index: number): boolean | Promise<boolean> {
    const { index: from, after } = this.#start;
    const entry = toEntry(this.#template, item, index);
    // Entries that came or went have moved the start: the last entry of this URI before the index counts, or else the first after it.
    if (after !== '' && entry.uri === after && (index < from || !this.#hasFoundStart)) {
      this.#hasFoundStart = true;
      this.#unchecked = [];
      this.#entries = [];
      return true;
    }
    const isBefore = index < from;
    if (isBefore && (!this.#hasFoundStart || this.#isFull)) return true;
    this.#unchecked.push(entry);
    return !this.#isFull || this.#check().then(() => isBefore || (!this.#isFull && this.#mayGoOn(index)));
  }

  get #isFull(): boolean {
    return this.#entries.length + this.#unchecked.length > this.#part.room;
  }

  /** Moves the entries that may be listed to the part. */
  async #check(): Promise<void> {
    const unchecked = this.#unchecked;
    this.#unchecked = [];
    const verdicts = await this.#part.mayList(unchecked.map(({ uri }) => uri));
    const listed = new Set(this.#entries.map(({ uri }) => uri));
    for (const [at, entry] of unchecked.entries())
      if (verdicts[at] && !listed.has(entry.uri) && listed.add(entry.uri)) this.#entries.push(entry);
    this.#checked += unchecked.length;
  }

  // The cursor has no URI, because the caller may not see the last entry that was checked.
  #mayGoOn(index: number): boolean {
    if (this.#checked < MAX_CHECKED) return true;
    this.#next = { index: index + 1, after: '' };
    return false;
  }

  #giveUp(): false {
    this.#part.log(
      'warning',
      `"list" of the resource "${this.#template.uri}" has more than ${MAX_READ} entries, and the rest is not listed. Return pages instead: { entries, next }.`,
    );
    return false;
  }
}

function uriOf(item: unknown): unknown {
  return typeof item === 'string' ? item : isObject(item) ? item['uri'] : undefined;
}

function toEntry(template: CompiledTemplate, item: unknown, index: number): Entry {
  const uri = uriOf(item);
  if (typeof uri !== 'string')
    throw listError(template, `returned an entry without a string "uri", at [${index}]`);
  return { index, uri, item };
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

// Only the entries that are sent need to be checked and converted.
function toListed(template: CompiledTemplate, { uri, item }: Entry): ListedResource {
  const entry = (typeof item === 'string' ? { uri } : item) as ResourceEntry;
  const { name = uri, mimeType = template.mimeType, annotations, size } = entry;
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

function listError({ uri }: CompiledTemplate, problem: string): TypeError {
  return new TypeError(`"list" of the resource "${uri}" ${problem}`);
}
