import type { Store, StoreLimits } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';

/** The promises of a store's limits, wherever it stores its entries. */
export function storeLimitsContract(name: string, createStore: (limits: StoreLimits) => Store): void {
  describe(`the limits of a store ${name}`, () => {
    const stores: Store[] = [];
    const create = (limits: StoreLimits): Store => {
      const store = createStore(limits);
      stores.push(store);
      return store;
    };

    afterEach(async () => {
      vi.useRealTimers();
      for (const store of stores.splice(0)) await store.close();
    });

    it('reject an entry beyond the maximum count, and keep the existing entries', async () => {
      const store = create({ maxEntries: 2 });
      await store.set('a', { n: 1 });
      await store.set('b', { n: 1 });
      const full = 'The store is full: it has 2 entries. Raise its maxEntries.';
      await expect(store.set('c', { n: 1 })).rejects.toThrow(full);
      await expect(store.add('c', { n: 1 })).rejects.toThrow(full);
      await store.set('a', { n: 2 });
      expect(await store.get('a')).toEqual({ n: 2 });
      await store.delete('b');
      await store.set('c', { n: 1 });
    });

    it('reject a value beyond the maximum size, and keep the existing entries', async () => {
      const store = create({ maxBytes: 100 });
      await store.set('a', { text: 'x'.repeat(50) });
      const full = 'The store is full: it may have 100 bytes. Raise its maxBytes.';
      await expect(store.set('b', { text: 'x'.repeat(50) })).rejects.toThrow(full);
      await expect(store.set('a', { text: 'x'.repeat(100) })).rejects.toThrow(full);
      expect(await store.get('a')).toEqual({ text: 'x'.repeat(50) });
      // Overwritten and deleted entries make room.
      for (let round = 0; round < 5; round++) await store.set('a', { text: 'y'.repeat(80) });
      await store.delete('a');
      await store.delete('a');
      await store.set('b', { text: 'x'.repeat(80) });
      await expect(store.set('c', { text: '' })).rejects.toThrow(full);
    });

    it('count bytes as they are stored, not characters', async () => {
      const store = create({ maxBytes: 1000 });
      await expect(store.set('a', { text: '漢'.repeat(600) })).rejects.toThrow('it may have 1000 bytes');
      await store.set('a', { text: '漢'.repeat(400) });
      await store.delete('a');
      await store.set('a', { text: 'é'.repeat(900) });
    });

    it('leave room for other kinds when one kind takes all it can get', async () => {
      const store = create({ maxEntries: 10, maxBytes: 10_000 });
      for (let n = 0; n < 5; n++) await store.set(`task:${n}`, { n });
      const full =
        'The store is full for "task": a kind of entries may have 50 % of maxEntries and maxBytes.';
      await expect(store.set('task:5', { n: 5 })).rejects.toThrow(full);
      await store.set('task:4', { n: 40 });
      await store.set('used:1', { n: 1 });
      await expect(store.set('outcome:1', { text: 'x'.repeat(6000) })).rejects.toThrow('"outcome"');
      await store.set('outcome:1', { text: 'x'.repeat(4000) });
      await store.delete('task:0');
      await store.set('task:5', { n: 5 });
    });

    it('leave room for other callers when one caller takes all it can get', async () => {
      const store = create({ maxEntries: 20, maxBytes: 10_000 });
      const full = "The store is full for one caller: a caller's entries of a kind may have 10 %";
      await store.add('outcome:ann:1', { n: 1 });
      await store.add('outcome:ann:2', { n: 1 });
      await expect(store.add('outcome:ann:3', { n: 1 })).rejects.toThrow(full);
      for (const caller of ['bob', 'eve']) await store.add(`outcome:${caller}:1`, { n: 1 });
      await expect(store.set('outcome:bob:1', { text: 'x'.repeat(1000) })).rejects.toThrow(full);
      expect(await store.get('outcome:bob:1')).toEqual({ n: 1 });
      await store.add('used:ann:1', { n: 1 });
      await store.delete('outcome:ann:1');
      await store.add('outcome:ann:3', { n: 1 });
    });

    it('free the share of entries that expire', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const store = create({ maxEntries: 10 });
      await store.add('outcome:ann:1', { n: 1 }, Date.now() + 1000);
      await expect(store.add('outcome:ann:2', { n: 1 })).rejects.toThrow('one caller');
      vi.setSystemTime(Date.now() + 1001);
      await store.add('outcome:ann:2', { n: 1 });
    });

    it.each([0, -1, 1.5, Number.NaN])('reject a share of %d', (share) => {
      expect(() => create({ callerShare: share })).toThrow(
        '"callerShare" must be a number above 0 and at most 1.',
      );
      expect(() => create({ kindShare: share })).toThrow(
        '"kindShare" must be a number above 0 and at most 1.',
      );
    });

    it('make room by removing expired entries', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const store = create({ maxEntries: 2 });
      await store.set('a', { n: 1 }, Date.now() + 1000);
      await store.set('b', { n: 1 }, Date.now() + 1000);
      await expect(store.set('c', { n: 1 })).rejects.toThrow('full');
      vi.setSystemTime(Date.now() + 1001);
      await store.set('c', { n: 1 });
      await store.set('d', { n: 1 });
    });
  });
}
