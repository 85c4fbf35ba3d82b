// The store on Redis.

import type { JsonObject } from '../../jsonrpc/message.js';
import { checkKey, groupOfKey, groupOfWork } from '../../state/changes.js';
import type {
  ClaimOptions,
  ItemsOptions,
  Lease,
  ListItem,
  PageOptions,
  Store,
  StoreChange,
  StoreEntry,
  Written,
} from '../../state/store.js';
import { renewCall, time, writeCall } from './commands.js';
import type { Access } from './engine.js';
import type { Partition } from './keys.js';
import { CLAIM, GET, PAGE, RENEW } from './scripts.js';
import { WRITE } from './write-script.js';

/** The largest numbers of leases that one script claims or renews, and of items and entries in one reply. */
const MAX_CLAIM = 200;
const MAX_RENEW = 200;
const MAX_REPLY = 1000;

/** Makes the store on Redis. */
export function redisStore(engine: Access): Store {
  return new RedisStore(engine);
}

class RedisStore implements Store {
  readonly #engine: Access;

  constructor(engine: Access) {
    this.#engine = engine;
  }

  async get(key: string): Promise<StoreEntry | undefined> {
    if (!isKeepable(key)) return undefined;
    const reply = await this.#engine.run(GET, { keys: [this.#of(key).entry(key)], args: [] });
    if (reply === null) return undefined;
    const [entry, expiresInMs] = reply as [string, number];
    return toEntry(key, entry, expiresInMs);
  }

  async page(prefix: string, { after = '', limit = 100 }: PageOptions = {}): Promise<readonly StoreEntry[]> {
    if (limit <= 0) return [];
    const group = /^[^:]+:([^:]+):/.exec(prefix)?.[1];
    const { keyspace } = this.#engine;
    const partitions = group === undefined ? keyspace.partitions : [keyspace.of(group)];
    const pages = await Promise.all(
      partitions.map((partition) => this.#pageOf(partition, { prefix, after, limit })),
    );
    return pages
      .flat()
      .map((entry) => ({ entry, bytes: Buffer.from(entry.key) }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
      .slice(0, limit)
      .map(({ entry }) => entry);
  }

  async items(list: string, { after }: ItemsOptions = {}): Promise<readonly ListItem[]> {
    if (!isKeepable(list)) return [];
    const [key] = this.#of(list).list(list);
    const items: ListItem[] = [];
    let from = after === undefined ? '-' : `(${Math.max(0, after)}-0`;
    for (;;) {
      const command = ['XRANGE', key, from, '+', 'COUNT', String(MAX_REPLY)];
      const reply = (await this.#engine.send(command, { key })) as [string, string[]][];
      for (const [id, [, name = '', , value = '']] of reply)
        items.push({ at: Number.parseInt(id, 10), name, value: JSON.parse(value) as JsonObject });
      if (reply.length < MAX_REPLY) return items;
      from = `(${reply.at(-1)?.[0]}`;
    }
  }

  async write(changes: readonly StoreChange[], { guard }: { readonly guard?: Lease } = {}): Promise<Written> {
    const call = writeCall(this.#engine.keyspace, changes, guard);
    const [isMade, result] = (await this.#engine.run(WRITE, call)) as [number, string | number];
    if (isMade === 0) {
      const refusedBy = Number(result) - (guard === undefined ? 0 : 1);
      return { ok: false, refusedBy: refusedBy < 0 ? 'guard' : refusedBy };
    }
    const held = changes.find((change) => change.do === 'enqueue' && change.hold !== undefined);
    if (held?.do !== 'enqueue') return { ok: true };
    return { ok: true, lease: { queue: held.queue, key: held.key, token: Number(result), attempt: 1 } };
  }

  async claim(queue: string, { owner, limit, ms }: ClaimOptions): Promise<readonly Lease[]> {
    checkKey(queue);
    const leases: Lease[] = [];
    for (const partitions of await this.#engine.rounds()) {
      const wanted = Math.min(limit - leases.length, MAX_CLAIM);
      if (wanted <= 0) break;
      const keys = partitions.flatMap((partition) => [partition.counter, ...partition.queue(queue)]);
      const args = [String(wanted), time(ms), owner];
      const reply = (await this.#engine.run(CLAIM, { keys, args })) as string[];
      for (let at = 0; at < reply.length; at += 3)
        leases.push({
          queue,
          key: reply[at] as string,
          token: Number(reply[at + 1]),
          attempt: Number(reply[at + 2]),
        });
    }
    return leases;
  }

  async renew(leases: readonly Lease[], ms: number): Promise<readonly Lease[]> {
    const batches = await this.#batchesOf(leases);
    const held = await Promise.all(
      batches.map(async (batch) => {
        const reply = await this.#engine.run(RENEW, renewCall(this.#engine.keyspace, batch, ms));
        return batch.filter((_, at) => (reply as number[])[at] === 1);
      }),
    );
    const all = new Set(held.flat());
    return leases.filter((lease) => all.has(lease));
  }

  async size(queue: string): Promise<number> {
    checkKey(queue);
    const sizes = this.#engine.keyspace.partitions.map((partition) => {
      const [key] = partition.queue(queue);
      return this.#engine.send(['ZCARD', key], { key }) as Promise<number>;
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  async close(): Promise<void> {
    this.#engine.close();
  }

  #of(key: string): Partition {
    return this.#engine.keyspace.of(groupOfKey(key));
  }

  async #pageOf(
    partition: Partition,
    { prefix, after, limit }: { readonly prefix: string; readonly after: string; readonly limit: number },
  ): Promise<readonly StoreEntry[]> {
    const page: StoreEntry[] = [];
    let from = Buffer.compare(Buffer.from(after), Buffer.from(prefix)) < 0 ? `[${prefix}` : `(${after}`;
    while (page.length < limit) {
      const wanted = String(Math.min(limit - page.length, MAX_REPLY));
      const call = { keys: [partition.index], args: [partition.entries, from, prefix, wanted] };
      const [next = '', ...rows] = (await this.#engine.run(PAGE, call)) as (string | number)[];
      for (let at = 0; at < rows.length; at += 3)
        page.push(toEntry(rows[at] as string, rows[at + 1] as string, rows[at + 2] as number));
      if (next === '') break;
      from = String(next);
    }
    return page;
  }

  /** The leases in batches that one script can renew. */
  async #batchesOf(leases: readonly Lease[]): Promise<readonly (readonly Lease[])[]> {
    const { keyspace } = this.#engine;
    const batches: Lease[][] = [];
    for (const partitions of await this.#engine.rounds()) {
      const own = leases.filter(({ key }) => partitions.includes(keyspace.of(groupOfWork(key))));
      for (let at = 0; at < own.length; at += MAX_RENEW) batches.push(own.slice(at, at + MAX_RENEW));
    }
    return batches;
  }
}

// Only a key that a store accepts can be there. Others may look the same in UTF-8.
function isKeepable(key: string): boolean {
  try {
    checkKey(key);
    return groupOfKey(key) !== '';
  } catch {
    return false;
  }
}

function toEntry(key: string, entry: string, expiresInMs: number): StoreEntry {
  const space = entry.indexOf(' ');
  return {
    key,
    value: JSON.parse(entry.slice(space + 1)) as JsonObject,
    version: entry.slice(0, space),
    expiresInMs: expiresInMs < 0 ? undefined : expiresInMs,
  };
}
