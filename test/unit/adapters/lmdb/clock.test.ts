import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Lease, Store } from '../../../../src/state/store.js';

const HOUR = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-clock-'));
let stores = 0;
let path: string;
let store: Store;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  path = join(folder, `store-${++stores}`);
  store = lmdbStore(path);
});

afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const advance = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);
const claim = (ms = 60_000): Promise<readonly Lease[]> => store.claim('q', { owner: 'me', limit: 9, ms });

describe('a store on disk whose machine sets its clock back', () => {
  it('makes work due after the time that was asked for, not when the clock reaches the old time', async () => {
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1', inMs: 1000 }]);
    advance(-24 * HOUR);
    expect(await claim()).toEqual([]);
    advance(1001);
    expect(await claim()).toHaveLength(1);
  });

  it('ends a lease after the time that was asked for', async () => {
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [stale] = await claim(1000);
    advance(-24 * HOUR);
    expect(await claim()).toEqual([]);
    advance(1001);
    const [lease] = await claim();
    expect(lease?.token).toBeGreaterThan(stale?.token as number);
    const append = { do: 'append', list: 'l:g', name: 'late', value: {} } as const;
    expect(await store.write([append], { guard: stale as Lease })).toEqual({ ok: false, refusedBy: 'guard' });
  });

  it('expires entries after the time that was asked for, also when it is reopened in between', async () => {
    await store.write([{ do: 'put', key: 'a:g', value: {}, ttlMs: 1000 }]);
    advance(-24 * HOUR);
    await store.write([{ do: 'put', key: 'b:g', value: {}, ttlMs: 1000 }]);
    expect((await store.get('a:g'))?.expiresInMs).toBeLessThanOrEqual(1000);
    await store.close();
    store = lmdbStore(path);
    advance(999);
    expect((await store.get('b:g'))?.expiresInMs).toBe(1);
    advance(1);
    expect(await store.get('a:g')).toBeUndefined();
    expect(await store.get('b:g')).toBeUndefined();
  });

  it('notices it even if nothing is written but a claim', async () => {
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1', inMs: 5000 }]);
    advance(-HOUR);
    await claim();
    advance(-HOUR);
    await claim();
    advance(5001);
    expect(await claim()).toHaveLength(1);
  });
});

describe('a store on disk whose machine sets its clock forward', () => {
  it('lets another process claim the work, and refuses the writes of the one that held it', async () => {
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [stale] = await claim();
    advance(24 * HOUR);
    const [lease] = await claim();
    const write = (guard: Lease | undefined) =>
      store.write([{ do: 'put', key: 'a:g', value: {} }], { guard: guard as Lease });
    expect(await write(stale)).toEqual({ ok: false, refusedBy: 'guard' });
    expect(await write(lease)).toEqual({ ok: true });
  });

  it('goes on from there when the clock is set back again', async () => {
    advance(24 * HOUR);
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1', inMs: 1000 }]);
    advance(-24 * HOUR);
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:2', inMs: 1000 }]);
    advance(1001);
    expect(await claim()).toHaveLength(2);
  });
});
