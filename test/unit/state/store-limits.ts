import type { MemoryStoreOptions, Store } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';

function set(store: Store, key: string, value: Record<string, unknown>, ttlMs?: number): Promise<unknown> {
  return store.write([{ do: 'put', key, value, ...(ttlMs !== undefined && { ttlMs }) }]);
}

function add(store: Store, key: string, value: Record<string, unknown>, ttlMs?: number): Promise<unknown> {
  return store.write([{ do: 'put', key, value, if: 'absent', ...(ttlMs !== undefined && { ttlMs }) }]);
}

function remove(store: Store, key: string): Promise<unknown> {
  return store.write([{ do: 'delete', key }]);
}

async function readValue(store: Store, key: string): Promise<unknown> {
  return (await store.get(key))?.value;
}

/** The promises of a store's limits, wherever it stores its entries. */
export function storeLimitsContract(name: string, createStore: (limits: MemoryStoreOptions) => Store): void {
  describe(`the limits of a store ${name}`, () => {
    // Kinds and callers may have all of the store.
    const undivided = { kindShare: 1, callerShare: 1 };
    const stores: Store[] = [];
    const create = (limits: MemoryStoreOptions): Store => {
      const store = createStore(limits);
      stores.push(store);
      return store;
    };

    afterEach(async () => {
      vi.useRealTimers();
      for (const store of stores.splice(0)) await store.close();
    });

    it('reject an entry beyond the maximum count, and keep the existing entries', async () => {
      const store = create({ ...undivided, maxEntries: 2 });
      await set(store, 'x:a', { n: 1 });
      await set(store, 'x:b', { n: 1 });
      const full = 'The store is full: it has 2 entries. Raise its maxEntries.';
      await expect(set(store, 'x:c', { n: 1 })).rejects.toThrow(full);
      await expect(add(store, 'x:c', { n: 1 })).rejects.toThrow(full);
      await set(store, 'x:a', { n: 2 });
      expect(await readValue(store, 'x:a')).toEqual({ n: 2 });
      await remove(store, 'x:b');
      await set(store, 'x:c', { n: 1 });
    });

    it('reject a value beyond the maximum size, and keep the existing entries', async () => {
      const store = create({ ...undivided, maxBytes: 100 });
      await set(store, 'x:a', { text: 'x'.repeat(50) });
      const full = 'The store is full: it may have 100 bytes. Raise its maxBytes.';
      await expect(set(store, 'x:b', { text: 'x'.repeat(50) })).rejects.toThrow(full);
      await expect(set(store, 'x:a', { text: 'x'.repeat(100) })).rejects.toThrow(full);
      expect(await readValue(store, 'x:a')).toEqual({ text: 'x'.repeat(50) });
      // Overwritten and deleted entries make room.
      for (let round = 0; round < 5; round++) await set(store, 'x:a', { text: 'y'.repeat(80) });
      await remove(store, 'x:a');
      await remove(store, 'x:a');
      await set(store, 'x:b', { text: 'x'.repeat(80) });
      await expect(set(store, 'x:c', { text: '' })).rejects.toThrow(full);
    });

    it('count bytes as they are stored, not characters', async () => {
      const store = create({ ...undivided, maxBytes: 1000 });
      await expect(set(store, 'x:a', { text: '漢'.repeat(600) })).rejects.toThrow('it may have 1000 bytes');
      await set(store, 'x:a', { text: '漢'.repeat(400) });
      await remove(store, 'x:a');
      await set(store, 'x:a', { text: 'é'.repeat(900) });
    });

    it('count the bytes of a list with its items, until it is dropped', async () => {
      const store = create({ ...undivided, maxBytes: 300 });
      const append = (name: string): Promise<unknown> =>
        store.write([{ do: 'append', list: 'l:g', name, value: { text: 'x'.repeat(70) } }]);
      for (const name of ['1', '2', '3']) await append(name);
      await expect(append('4')).rejects.toThrow('it may have 300 bytes');
      expect(await store.items('l:g')).toHaveLength(3);
      await store.write([{ do: 'drop', list: 'l:g' }]);
      for (const name of ['1', '2', '3']) await append(name);
    });

    it('reject a write as a whole if a part of it does not fit, and count what it removes', async () => {
      const store = create({ ...undivided, maxEntries: 2 });
      const three = ['a:g', 'b:g', 'c:g'].map((key) => ({ do: 'put', key, value: {} }) as const);
      await expect(store.write(three)).rejects.toThrow('it has 2 entries');
      expect(await store.page('')).toEqual([]);
      await store.write(three.slice(0, 2));
      await store.write([{ do: 'delete', key: 'a:g' }, ...three.slice(2)]);
      expect((await store.page('')).map(({ key }) => key)).toEqual(['b:g', 'c:g']);
    });

    it('leave room for other kinds when one kind takes all it can get', async () => {
      const store = create({ maxEntries: 10, maxBytes: 10_000 });
      for (let n = 0; n < 5; n++) await set(store, `task:${n}`, { n });
      const full =
        'The store is full for "task": a kind of entries may have 50 % of maxEntries and maxBytes.';
      await expect(set(store, 'task:5', { n: 5 })).rejects.toThrow(full);
      await set(store, 'task:4', { n: 40 });
      await set(store, 'used:1', { n: 1 });
      await expect(set(store, 'outcome:1', { text: 'x'.repeat(6000) })).rejects.toThrow('"outcome"');
      await set(store, 'outcome:1', { text: 'x'.repeat(4000) });
      await remove(store, 'task:0');
      await set(store, 'task:5', { n: 5 });
    });

    it('leave room for other callers when one caller takes all it can get', async () => {
      const store = create({ maxEntries: 20, maxBytes: 10_000 });
      const full = "The store is full for one caller: a caller's entries of a kind may have 10 %";
      await add(store, 'outcome:ann:1', { n: 1 });
      await add(store, 'outcome:ann:2', { n: 1 });
      await expect(add(store, 'outcome:ann:3', { n: 1 })).rejects.toThrow(full);
      for (const caller of ['bob', 'eve']) await add(store, `outcome:${caller}:1`, { n: 1 });
      await expect(set(store, 'outcome:bob:1', { text: 'x'.repeat(1000) })).rejects.toThrow(full);
      expect(await readValue(store, 'outcome:bob:1')).toEqual({ n: 1 });
      await add(store, 'used:ann:1', { n: 1 });
      await remove(store, 'outcome:ann:1');
      await add(store, 'outcome:ann:3', { n: 1 });
    });

    it('free the share of entries that expire', async () => {
      vi.useFakeTimers({ toFake: ['Date', 'performance'] });
      const store = create({ maxEntries: 10 });
      await add(store, 'outcome:ann:1', { n: 1 }, 1000);
      await expect(add(store, 'outcome:ann:2', { n: 1 })).rejects.toThrow('one caller');
      vi.advanceTimersByTime(1001);
      await add(store, 'outcome:ann:2', { n: 1 });
    });

    it.each([0, -1, 1.5, Number.NaN])('reject a share of %d', (share) => {
      expect(() => create({ callerShare: share })).toThrow(
        '"callerShare" must be a number from 0.001 to 1, not ',
      );
      expect(() => create({ kindShare: share })).toThrow(
        '"kindShare" must be a number from 0.001 to 1, not ',
      );
    });

    it('make room by removing expired entries', async () => {
      vi.useFakeTimers({ toFake: ['Date', 'performance'] });
      const store = create({ ...undivided, maxEntries: 2 });
      await set(store, 'x:a', { n: 1 }, 1000);
      await set(store, 'x:b', { n: 1 }, 1000);
      await expect(set(store, 'x:c', { n: 1 })).rejects.toThrow('full');
      vi.advanceTimersByTime(1001);
      await set(store, 'x:c', { n: 1 });
      await set(store, 'x:d', { n: 1 });
    });
  });
}
