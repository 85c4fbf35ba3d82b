import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, describe, expect, it } from 'vitest';
import { storeContract } from '../../../contracts/store.js';
import { storeLimitsContract } from '../../../contracts/store-limits.js';
import { until } from '../../../support/until.js';

type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
const { open } = createRequire(import.meta.url)('lmdb') as Lmdb;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-'));
const dist = fileURLToPath(new URL('../../../../dist/', import.meta.url));
let stores = 0;
const fresh = (): string => join(folder, `store-${++stores}`);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeContract('on disk', () => lmdbStore(fresh()));
storeLimitsContract('on disk', (limits) => lmdbStore(fresh(), limits));

describe('the store on disk', () => {
  it('keeps its entries and their expiry when it is reopened', async () => {
    const path = fresh();
    const first = lmdbStore(path);
    await first.set('a', { n: 1 });
    await first.set('gone', { n: 1 }, Date.now() + 50);
    await first.set('b', { n: 2 }, Date.now() + 3_600_000);
    await first.close();
    const second = lmdbStore(path);
    expect(await second.get('a')).toEqual({ n: 1 });
    await until('it has expired', async () => (await second.get('gone')) === undefined);
    expect(await second.add('b', {})).toBe(false);
    await second.close();
  });

  it('counts its earlier entries against its limits when it is reopened', async () => {
    const path = fresh();
    const limits = { maxEntries: 20 };
    const first = lmdbStore(path, limits);
    await first.set('outcome:ann:1', { n: 1 });
    await first.set('outcome:ann:2', { n: 1 });
    await first.close();
    const second = lmdbStore(path, limits);
    await expect(second.set('outcome:ann:3', { n: 1 })).rejects.toThrow('The store is full for one caller');
    await second.delete('outcome:ann:2');
    await second.set('outcome:ann:3', { n: 1 });
    await second.close();
  });

  it('rejects one write of a shared transaction, and keeps the others', async () => {
    const store = lmdbStore(fresh(), { maxEntries: 20 });
    const writes = ['ann:1', 'ann:2', 'ann:3', 'bob:1'].map((key) => store.set(`outcome:${key}`, { n: 1 }));
    const ends = await Promise.allSettled(writes);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await store.get('outcome:ann:3')).toBeUndefined();
    expect(await store.get('outcome:bob:1')).toEqual({ n: 1 });
    await store.close();
  });

  it('removes expired entries and their expiry records', async () => {
    const path = fresh();
    const store = lmdbStore(path, { sweepIntervalMs: 10 });
    const soon = Date.now() + 100;
    await Promise.all(Array.from({ length: 500 }, (_, n) => store.set(`t${n}`, { n }, soon)));
    await store.set('renewed', { n: 1 }, soon);
    await store.set('renewed', { n: 2 }, Date.now() + 3_600_000);
    await store.set('forever', { n: 1 });
    const db = open({ path, readOnly: true, noSubdir: false, maxDbs: 2 });
    const count = (name: string): number => db.openDB({ name, encoding: 'json' }).getCount();
    await until('the expired are removed', () => count('entries') === 2 && count('expiries') === 1);
    expect(await store.get('renewed')).toEqual({ n: 2 });
    await store.close();
    await db.close();
  });

  it('finishes a write that was begun before it is closed, and rejects use afterwards', async () => {
    const store = lmdbStore(fresh());
    const writing = store.set('a', { n: 1 });
    await store.close();
    await writing;
    const closed = /^The store at .* is closed\.$/;
    await expect(store.get('a')).rejects.toThrow(closed);
    await expect(store.set('a', {})).rejects.toThrow(closed);
    await expect(store.add('a', {})).rejects.toThrow(closed);
    await expect(store.delete('a')).rejects.toThrow(closed);
    await expect(store.entries('')[Symbol.asyncIterator]().next()).rejects.toThrow(closed);
  });

  it('rejects a key that is too long, and continues to work', async () => {
    const store = lmdbStore(fresh());
    await expect(store.set('é'.repeat(513), {})).rejects.toThrow(
      'A key of 1026 bytes is too long. The store accepts at most 1024.',
    );
    await store.set('é'.repeat(512), { n: 1 });
    expect(await store.get('é'.repeat(512))).toEqual({ n: 1 });
    await store.close();
  });

  it('is open in one process at a time, and free when that process is killed', async () => {
    const path = fresh();
    const script = `
      const { lmdbStore } = await import(${JSON.stringify(join(dist, 'lmdb.js'))});
      const store = lmdbStore(${JSON.stringify(path)});
      await store.set('a', { pid: process.pid });
      if (process.argv[1] === 'die') process.kill(process.pid, 'SIGKILL');`;
    const child = (...args: string[]) =>
      run(process.execPath, ['--input-type=module', '-e', script, ...args]);
    const store = lmdbStore(path);
    await expect(child()).rejects.toThrow(
      `The store at ${path} is in use by process ${process.pid}. Stop that server, or use another folder.`,
    );
    await store.close();
    await expect(child('die')).rejects.toMatchObject({ signal: 'SIGKILL' });
    const after = lmdbStore(path);
    expect(await after.get('a')).toEqual({ pid: expect.any(Number) });
    await after.close();
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
