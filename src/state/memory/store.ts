// The store in memory, for a server of one process.

import type { JsonObject } from '../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { checkChanges } from '../changes.js';
import type {
  Append,
  ClaimOptions,
  Count,
  Lease,
  ListItem,
  Put,
  Store,
  StoreChange,
  StoreEntry,
  Written,
} from '../store.js';
import { bytesOf, type StoreLimits, shareTable } from '../store-shares.js';
import { expiryOf, MemoryContents, NEVER, now, type StoredEntry } from './contents.js';
import { MemoryQueue } from './queue.js';

/** The options of `memoryStore`. */
export interface MemoryStoreOptions extends StoreLimits {}

const optionTable = {
  maxEntries: { is: 'number', default: 100_000 },
  maxBytes: { is: 'number', default: 256 * 1024 * 1024 },
  ...shareTable,
} as const satisfies OptionTable<MemoryStoreOptions>;

/** Makes a store in this process's memory. Its contents are lost when the process ends. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const store = new MemoryStore(readOptions('memoryStore', options, optionTable));
  // A plain object, so that a copy of it with one method replaced is a store, too.
  return {
    get: (key) => store.get(key),
    page: (prefix, range) => store.page(prefix, range),
    items: (list, range) => store.items(list, range),
    write: (changes, guarded) => store.write(changes, guarded),
    claim: (queue, by) => store.claim(queue, by),
    renew: (leases, ms) => store.renew(leases, ms),
    size: (queue) => store.size(queue),
    close: () => store.close(),
  };
}

/** The JSON and the size of a change, made before the first change takes place. */
interface Prepared {
  readonly json: string;
  /** The bytes of the entry or of the whole list afterwards. */
  readonly bytes: number;
}

// The value of a count that is removed.
const NOTHING = JSON.stringify({ count: 0 });

class MemoryStore {
  readonly #contents: MemoryContents;
  readonly #queues = new Map<string, MemoryQueue>();
  /** One counter for versions, tokens and positions: none of them may start again. */
  #counter = 0;

  constructor(limits: Required<StoreLimits>) {
    this.#contents = new MemoryContents(limits);
  }

  async get(key: string): Promise<StoreEntry | undefined> {
    const entry = this.#contents.entry(key);
    return entry && toEntry(key, entry);
  }

  async page(prefix: string, { after = '', limit = 100 } = {}): Promise<readonly StoreEntry[]> {
    const keys: string[] = [];
    // Without a copy of all keys: the store may have 100,000, and few of them begin with the prefix.
    for (const key of this.#contents.entries.keys())
      if (key.startsWith(prefix) && (after === '' || compareBytes(key, after) > 0)) keys.push(key);
    keys.sort(compareBytes);
    const page: StoreEntry[] = [];
    for (const key of keys) {
      if (page.length >= limit) break;
      const entry = this.#contents.entry(key);
      if (entry !== undefined) page.push(toEntry(key, entry));
    }
    return page;
  }

  async items(list: string, { after = -1 } = {}): Promise<readonly ListItem[]> {
    const items = this.#contents.list(list)?.items ?? new Map<string, never>();
    return [...items]
      .filter(([, { at }]) => at > after)
      .map(([name, { at, json }]) => ({ at, name, value: JSON.parse(json) as JsonObject }));
  }

  async write(changes: readonly StoreChange[], { guard }: { readonly guard?: Lease } = {}): Promise<Written> {
    checkChanges(changes, guard);
    if (guard !== undefined && !this.#queue(guard.queue).holds(guard))
      return { ok: false, refusedBy: 'guard' };
    const refusedBy = changes.findIndex((change) => !this.#isMet(change));
    if (refusedBy !== -1) return { ok: false, refusedBy };
    const prepared = this.#prepare(changes);
    let lease: Lease | undefined;
    for (const [at, change] of changes.entries())
      lease = this.#make(change, { guard, prepared: prepared[at] as Prepared }) ?? lease;
    return lease === undefined ? { ok: true } : { ok: true, lease };
  }

  async claim(queue: string, options: ClaimOptions): Promise<readonly Lease[]> {
    return this.#queues.get(queue)?.claim(options) ?? [];
  }

  async renew(leases: readonly Lease[], ms: number): Promise<readonly Lease[]> {
    return leases.filter((lease) => this.#queues.get(lease.queue)?.renew(lease, ms));
  }

  async size(queue: string): Promise<number> {
    return this.#queues.get(queue)?.size ?? 0;
  }

  async close(): Promise<void> {
    this.#contents.close();
    this.#queues.clear();
  }

  #isMet(change: StoreChange): boolean {
    switch (change.do) {
      case 'put':
      case 'delete': {
        if (change.if === undefined) return true;
        const version = this.#contents.entry(change.key)?.version;
        return change.if === 'absent' ? version === undefined : version === change.if.version;
      }
      case 'append':
        return this.#contents.list(change.list)?.items.has(change.name) !== true;
      case 'expect':
        return (this.#contents.list(change.list)?.items.size ?? 0) === change.size;
      case 'enqueue':
        return change.hold === undefined || !this.#queue(change.queue).has(change.key);
      case 'count':
        return change.max === undefined || change.by <= 0 || this.#countAfter(change) <= change.max;
      case 'drop':
      case 'release':
      case 'dequeue':
        return true;
      default:
        return change satisfies never;
    }
  }

  /** Prints the values and counts their bytes. If they do not fit, throws and counts nothing. */
  #prepare(changes: readonly StoreChange[]): readonly (Prepared | undefined)[] {
    const sizes = new Map<string, number>();
    const undo: (() => void)[] = [];
    try {
      // Removals make room for the new values.
      for (const change of changes) {
        if (change.do === 'delete')
          undo.push(this.#contents.free(change.key, this.#contents.entry(change.key)));
        if (change.do === 'drop')
          undo.push(this.#contents.free(change.list, this.#contents.list(change.list)));
      }
      return changes.map((change) => {
        if (change.do !== 'append' && change.do !== 'put' && change.do !== 'count') return undefined;
        const key = change.do === 'append' ? change.list : change.key;
        const bytesBefore = (): number | undefined =>
          sizes.get(key) ?? this.#contents[change.do === 'append' ? 'list' : 'entry'](key)?.bytes;
        const json = JSON.stringify(
          change.do === 'count' ? { count: this.#countAfter(change) } : change.value,
        );
        const bytes =
          change.do === 'append'
            ? (bytesBefore() ?? bytesOf(key)) + bytesOf(change.name) + bytesOf(json)
            : bytesOf(key) + bytesOf(json);
        undo.push(this.#contents.reserve(key, bytes, bytesBefore));
        sizes.set(key, bytes);
        return { json, bytes };
      });
    } catch (error) {
      for (const revert of undo) revert();
      throw error;
    }
  }

  #make(
    change: StoreChange,
    { guard, prepared }: { readonly guard: Lease | undefined; readonly prepared: Prepared },
  ): Lease | undefined {
    switch (change.do) {
      case 'put':
      case 'count':
        this.#put(change, prepared);
        return undefined;
      case 'append':
        this.#append(change, prepared);
        return undefined;
      case 'delete':
        this.#contents.removeEntry(change.key);
        return undefined;
      case 'drop':
        this.#contents.removeList(change.list);
        return undefined;
      case 'expect':
        return undefined;
      case 'enqueue': {
        const queue = this.#queue(change.queue);
        if (change.hold !== undefined) return queue.hold(change.key, change.hold.ms);
        queue.enqueue(change.key, change.inMs ?? 0);
        return undefined;
      }
      case 'release': {
        const { queue, key } = guard as Lease;
        this.#queue(queue).release(key, { inMs: change.inMs, keepAttempt: change.keepAttempt === true });
        return undefined;
      }
      case 'dequeue':
        this.#queue(change.queue).dequeue(change.key);
        return undefined;
      default:
        return change satisfies never;
    }
  }

  #put(change: Put | Count, { json, bytes }: Prepared): void {
    const before = this.#contents.entry(change.key);
    const isFirst = change.do === 'put' || before === undefined;
    const expiresAt = expiryOf(isFirst ? change.ttlMs : undefined, before);
    this.#contents.setEntry(change.key, { json, version: String(++this.#counter), bytes, expiresAt });
    if (change.do !== 'count' || json !== NOTHING) return;
    this.#contents.free(change.key, this.#contents.entry(change.key));
    this.#contents.removeEntry(change.key);
  }

  #append({ list, name, ttlMs }: Append, { json, bytes }: Prepared): void {
    const stored = this.#contents.list(list) ?? { items: new Map(), bytes: 0, expiresAt: NEVER };
    stored.items.set(name, { at: ++this.#counter, json });
    stored.bytes = bytes;
    stored.expiresAt = expiryOf(ttlMs, stored);
    this.#contents.setList(list, stored);
  }

  #countAfter({ key, by }: Pick<Count, 'key' | 'by'>): number {
    const entry = this.#contents.entry(key);
    const { count } = (entry === undefined ? { count: 0 } : JSON.parse(entry.json)) as {
      readonly count: number;
    };
    return Math.max(0, count + by);
  }

  #queue(name: string): MemoryQueue {
    const existing = this.#queues.get(name);
    if (existing !== undefined) return existing;
    const queue = new MemoryQueue(name, { now, nextToken: () => ++this.#counter });
    this.#queues.set(name, queue);
    return queue;
  }
}

function toEntry(key: string, { json, version, expiresAt }: StoredEntry): StoreEntry {
  return {
    key,
    value: JSON.parse(json) as JsonObject,
    version,
    expiresInMs: expiresAt === NEVER ? undefined : expiresAt - now(),
  };
}

// The order of UTF-8 bytes is the order of code points. That of UTF-16 code units differs only in the halves of characters: they come last.
function compareBytes(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return a.length - b.length;
}

function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}
