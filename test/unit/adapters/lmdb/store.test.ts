import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Lease, Store } from '../../../../src/state/store.js';
import { until } from '../../../support/until.js';
import { storeLimitsContract } from '../../state/store-limits.js';

type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
const { open } = createRequire(import.meta.url)('lmdb') as Lmdb;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-'));
const dist = fileURLToPath(new URL('../../../../dist/', import.meta.url));
let stores = 0;
const fresh = (): string => join(folder, `store-${++stores}`);
const opened: Store[] = [];
const openStore = (...args: Parameters<typeof lmdbStore>): Store => {
  const store = lmdbStore(...args);
  opened.push(store);
  return store;
};

afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeLimitsContract('on disk', (limits) => lmdbStore(fresh(), limits));

const put = (store: Store, key: string, value = {}, ttlMs?: number) =>
  store.write([{ do: 'put', key, value, ...(ttlMs !== undefined && { ttlMs }) }]);

/** The number of rows in each table that has some, except those that every store has. */
function rowsOf(path: string): Readonly<Record<string, number>> {
  const db = open({ path, readOnly: true, noSubdir: false, maxDbs: 16 });
  const names = [...db.getKeys()].filter((name) => name !== 'state' && name !== 'homes') as string[];
  const counts = names.map((name) => [name, db.openDB({ name, encoding: 'binary' }).getCount()] as const);
  void db.close();
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

describe('the store on disk', () => {
  it('keeps entries, lists, queues and their times when it is reopened', async () => {
    const path = fresh();
    const first = lmdbStore(path);
    await put(first, 'a:g', { n: 1 });
    await put(first, 'gone:g', {}, 50);
    await put(first, 'later:g', {}, 3_600_000);
    await first.write([{ do: 'append', list: 'l:g', name: 'x', value: { n: 1 } }]);
    await first.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    await first.write([{ do: 'enqueue', queue: 'q', key: 'g:2', inMs: 3_600_000 }]);
    const [lease] = (await first.claim('q', { owner: 'first', limit: 9, ms: 60_000 })) as [Lease];
    const entry = await first.get('a:g');
    await first.close();
    const second = openStore(path);
    expect(await second.get('a:g')).toEqual(entry);
    await until('it has expired', async () => (await second.get('gone:g')) === undefined);
    expect((await second.get('later:g'))?.expiresInMs).toBeGreaterThan(3_000_000);
    expect(await second.items('l:g')).toEqual([{ at: expect.any(Number), name: 'x', value: { n: 1 } }]);
    expect(await second.size('q')).toBe(2);
    expect(await second.claim('q', { owner: 'second', limit: 9, ms: 1 })).toEqual([]);
    expect(await second.write([{ do: 'release', inMs: 0 }], { guard: lease })).toEqual({ ok: true });
    const [next] = (await second.claim('q', { owner: 'second', limit: 9, ms: 1 })) as [Lease];
    expect(next.token).toBeGreaterThan(lease.token);
    await put(second, 'a:g', { n: 1 });
    expect(Number((await second.get('a:g'))?.version)).toBeGreaterThan(next.token);
  });

  it('counts its earlier entries against its limits when it is reopened', async () => {
    const path = fresh();
    const first = lmdbStore(path, { maxEntries: 20 });
    await put(first, 'outcome:ann:1');
    await put(first, 'outcome:ann:2');
    await first.close();
    const second = openStore(path, { maxEntries: 20 });
    await expect(put(second, 'outcome:ann:3')).rejects.toThrow('The store is full for one caller');
    await second.write([{ do: 'delete', key: 'outcome:ann:2' }]);
    await put(second, 'outcome:ann:3');
  });

  it('rejects or refuses one write of a shared transaction, and keeps the others', async () => {
    const store = openStore(fresh(), { maxEntries: 20 });
    const writes = ['ann:1', 'ann:2', 'ann:3', 'bob:1'].map((key) => put(store, `outcome:${key}`));
    const refused = store.write([
      { do: 'put', key: 'a:g', value: {} },
      { do: 'expect', list: 'l:g', size: 1 },
    ]);
    const ends = await Promise.allSettled(writes);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await refused).toEqual({ ok: false, refusedBy: 1 });
    expect(await store.get('outcome:ann:3')).toBeUndefined();
    expect(await store.get('a:g')).toBeUndefined();
    expect((await store.get('outcome:bob:1'))?.value).toEqual({});
  });

  it('leaves no rows behind when everything has expired or was removed', async () => {
    const path = fresh();
    const store = openStore(path, { sweepIntervalMs: 10, callerShare: 1 });
    await Promise.all(Array.from({ length: 1200 }, (_, n) => put(store, `t:g:${n}`, { n }, 200)));
    for (let n = 0; n < 1200; n += 100) {
      const items = Array.from({ length: 100 }, (_, at) => n + at);
      await store.write(
        items.map((name) => ({ do: 'append', list: 'l:g', name: `${name}`, value: {}, ttlMs: 200 })),
      );
      await store.write(items.map((name) => ({ do: 'append', list: 'm:g', name: `${name}`, value: {} })));
    }
    await put(store, 'renewed:g', {}, 200);
    await put(store, 'renewed:g', { n: 2 }, 3_600_000);
    await store.write([{ do: 'count', key: 'count:g', by: 3, ttlMs: 3_600_000 }]);
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    await store.write([{ do: 'drop', list: 'm:g' }]);
    expect(await store.items('m:g')).toEqual([]);
    await until('the expired are removed', () => Object.keys(rowsOf(path)).length === 4);
    expect(rowsOf(path)).toEqual({ values: 2, expiries: 2, work: 1, due: 1 });
    expect((await store.get('renewed:g'))?.value).toEqual({ n: 2 });
    await store.write([
      { do: 'delete', key: 'renewed:g' },
      { do: 'count', key: 'count:g', by: -3 },
      { do: 'dequeue', queue: 'q', key: 'g:1' },
    ]);
    expect(rowsOf(path)).toEqual({});
    expect(await store.size('q')).toBe(0);
  });

  it('does not mix a list with an earlier one of the same name whose items are still being removed', async () => {
    const store = openStore(fresh());
    const items = Array.from(
      { length: 150 },
      (_, n) => ({ do: 'append', list: 'l:g', name: `${n}`, value: {} }) as const,
    );
    await store.write(items);
    await store.write([{ do: 'drop', list: 'l:g' }]);
    await store.write([{ do: 'append', list: 'l:g', name: '7', value: { again: true } }]);
    expect(await store.items('l:g')).toEqual([{ at: expect.any(Number), name: '7', value: { again: true } }]);
  });

  it('claims and renews thousands of keys, in parts that let other processes write in between', async () => {
    const store = openStore(fresh());
    const keys = Array.from({ length: 3000 }, (_, n) => `g:${n}`);
    await Promise.all(keys.map((key) => store.write([{ do: 'enqueue', queue: 'q', key }])));
    const leases = await store.claim('q', { owner: 'me', limit: 2500, ms: 60_000 });
    expect(new Set(leases.map(({ key }) => key)).size).toBe(2500);
    expect(await store.renew(leases, 60_000)).toEqual(leases);
    expect(await store.claim('q', { owner: 'me', limit: 2500, ms: 60_000 })).toHaveLength(500);
  });

  it('finishes a write that was begun before it is closed, and rejects use afterwards', async () => {
    const store = lmdbStore(fresh());
    const writing = put(store, 'a:g');
    await store.close();
    expect(await writing).toEqual({ ok: true });
    const closed = /^The store at .* is closed\.$/;
    await expect(store.get('a:g')).rejects.toThrow(closed);
    await expect(put(store, 'a:g')).rejects.toThrow(closed);
    await expect(store.page('')).rejects.toThrow(closed);
    await expect(store.items('l:g')).rejects.toThrow(closed);
    await expect(store.claim('q', { owner: 'me', limit: 1, ms: 1 })).rejects.toThrow(closed);
    await expect(store.size('q')).rejects.toThrow(closed);
    await store.close();
  });

  it('rejects a key that is too long, finds nothing under one, and continues to work', async () => {
    const store = openStore(fresh());
    const tooLong = `a:${'é'.repeat(256)}`;
    await expect(put(store, tooLong)).rejects.toThrow(RangeError);
    for (const key of [tooLong, 'x'.repeat(5000)]) {
      expect(await store.get(key)).toBeUndefined();
      expect(await store.page(key)).toEqual([]);
      expect(await store.items(key)).toEqual([]);
      expect(await store.size(key)).toBe(0);
      expect(await store.claim(key, { owner: 'me', limit: 1, ms: 1 })).toEqual([]);
    }
    const longest = `a:${'é'.repeat(255)}`;
    await store.write([
      { do: 'put', key: longest, value: { n: 1 }, ttlMs: 60_000 },
      { do: 'append', list: longest, name: 'é'.repeat(256), value: {}, ttlMs: 60_000 },
      { do: 'enqueue', queue: 'é'.repeat(256), key: 'é'.repeat(255) },
    ]);
    expect((await store.get(longest))?.value).toEqual({ n: 1 });
    expect(await store.claim('é'.repeat(256), { owner: 'me', limit: 1, ms: 1 })).toHaveLength(1);
  });

  it('rejects a time that is not a number, before anything is changed', async () => {
    const store = openStore(fresh());
    const enqueue = { do: 'enqueue', queue: 'q', key: 'g:1', inMs: Number.NaN } as const;
    await expect(store.write([{ do: 'put', key: 'a:g', value: {} }, enqueue])).rejects.toThrow(
      'A time of the change "enqueue" is not a number.',
    );
    expect(await store.get('a:g')).toBeUndefined();
    await store.write([{ ...enqueue, inMs: Number.POSITIVE_INFINITY }]);
    expect(await store.claim('q', { owner: 'me', limit: 1, ms: 1 })).toEqual([]);
    await expect(store.claim('q', { owner: 'me', limit: 1, ms: Number.NaN })).rejects.toThrow(RangeError);
    await expect(store.renew([], Number.NaN)).rejects.toThrow(RangeError);
  });

  it('does not let a lease that cannot be one disturb the other writes of a transaction', async () => {
    const store = openStore(fresh());
    const forged = { queue: 'q', key: 'x'.repeat(5000), token: 1, attempt: 1 };
    const [write, renewed, guarded] = await Promise.allSettled([
      put(store, 'a:g'),
      store.renew([forged], 1000),
      store.write([{ do: 'release', inMs: 0 }], { guard: forged }),
    ]);
    expect(write).toEqual({ status: 'fulfilled', value: { ok: true } });
    expect(renewed).toEqual({ status: 'fulfilled', value: [] });
    expect(guarded).not.toMatchObject({ value: { ok: true } });
    expect(await store.get('a:g')).toBeDefined();
  });

  it('says what to install if lmdb is missing', async () => {
    const elsewhere = join(folder, 'elsewhere');
    cpSync(dist, join(elsewhere, 'dist'), { recursive: true });
    writeFileSync(join(elsewhere, 'package.json'), '{ "type": "module" }');
    const script = `(await import(${JSON.stringify(join(elsewhere, 'dist/lmdb.js'))})).lmdbStore('x')`;
    await expect(run(process.execPath, ['--input-type=module', '-e', script])).rejects.toThrow(
      'lmdbStore needs the package "lmdb". Install it: npm install lmdb',
    );
  });
});

describe('a folder of another version', () => {
  it('of the first format is refused with advice, and not changed', async () => {
    const path = fresh();
    const db = open({ path, noSubdir: false, maxDbs: 2 });
    await db.openDB({ name: 'entries', encoding: 'string' }).put('task:1', ' {"n":1}');
    await db.openDB({ name: 'expiries', encoding: 'json' }).put([5, 'task:1'], true);
    await db.close();
    const before = readFileSync(join(path, 'data.mdb'));
    expect(() => lmdbStore(path)).toThrow(
      `The store at ${path} was written by an earlier version of fullmcp, whose tasks this version cannot resume. Let the earlier version finish them, then use another folder. Nothing in this one was changed.`,
    );
    expect(readFileSync(join(path, 'data.mdb')).equals(before)).toBe(true);
  });

  it('of a later format is refused with advice', async () => {
    const path = fresh();
    const store = lmdbStore(path);
    await put(store, 'a:g');
    await store.close();
    const db = open({ path, noSubdir: false, maxDbs: 16 });
    await db.openDB<object, string>({ name: 'state', encoding: 'json' }).put('facts', { format: 3 });
    await db.close();
    expect(() => lmdbStore(path)).toThrow(
      `The store at ${path} has format 3, and this version of fullmcp reads format 2.`,
    );
  });
});
