import type { Store } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.js';

/** The promises of every store, wherever it stores entries. */
export function storeContract(name: string, create: () => Store | Promise<Store>): void {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    'a\0b',
    '\u0001',
    'ключ',
    '漢字',
    '😀',
    '\uffff',
    ' ',
  ];

  async function all(store: Store, prefix: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for await (const [key, value] of store.entries(prefix)) found.push({ key, value });
    return found;
  }

  async function keys(store: Store, prefix: string): Promise<unknown[]> {
    return (await all(store, prefix)).map(({ key }) => key).sort();
  }

  describe(`the store ${name}`, () => {
    test('keeps the last value that was set, until it is deleted', async () => {
      const store = await create();
      expect(await store.get('a')).toBeUndefined();
      await store.set('a', { n: 1 });
      await store.set('b', { n: 2 });
      await store.set('a', { n: 3 });
      expect(await store.get('a')).toEqual({ n: 3 });
      await store.delete('a');
      await store.delete('a');
      expect(await store.get('a')).toBeUndefined();
      expect(await store.get('b')).toEqual({ n: 2 });
      await store.close();
    });

    test('adds a missing entry only once, however many callers try', async () => {
      const store = await create();
      await store.set('taken', { by: 'set' });
      expect(await store.add('taken', { by: 'add' })).toBe(false);
      expect(await store.get('taken')).toEqual({ by: 'set' });
      const claims = await Promise.all(Array.from({ length: 20 }, (_, by) => store.add('free', { by })));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await store.get('free')).toEqual({ by: claims.indexOf(true) });
      await store.delete('free');
      expect(await store.add('free', { by: 'after' })).toBe(true);
      await store.close();
    });

    test('writes in the order of the calls', async () => {
      const store = await create();
      await Promise.all(Array.from({ length: 50 }, (_, n) => store.set('a', { n })));
      expect(await store.get('a')).toEqual({ n: 49 });
      await Promise.all([store.set('b', { n: 1 }), store.delete('b')]);
      expect(await store.get('b')).toBeUndefined();
      await store.close();
    });

    test('returns copies, so that callers cannot change stored values', async () => {
      const store = await create();
      const value = { list: [1], inner: { n: 1 } };
      const kept = store.set('a', value);
      value.list.push(2);
      await kept;
      value.inner.n = 2;
      const read = (await store.get('a')) as typeof value;
      read.inner.n = 3;
      for await (const [, listed] of store.entries('a')) (listed as typeof value).inner.n = 4;
      expect(await store.get('a')).toEqual({ list: [1], inner: { n: 1 } });
      await store.close();
    });

    test('preserves JSON values', async () => {
      const store = await create();
      const value = JSON.parse(
        '{"__proto__":{"x":1},"constructor":null,"t":"\\u0000 漢字 😀 \\u2028","n":[1e21,-0.5,0],"deep":{"a":[[{}]]},"big":""}',
      );
      value.big = 'x'.repeat(100_000);
      await store.set('a', value);
      expect(JSON.stringify(await store.get('a'))).toBe(JSON.stringify(value));
      await store.close();
    });

    test('accepts any string as a key', async () => {
      const store = await create();
      for (const key of names) expect(await store.get(key)).toBeUndefined();
      for (const key of names) expect(await store.add(key, { key })).toBe(true);
      for (const key of names) expect(await store.get(key)).toEqual({ key });
      expect(await keys(store, '')).toEqual([...names].sort());
      for (const key of names) await store.delete(key);
      expect(await all(store, '')).toEqual([]);
      await store.close();
    });

    test('lists the entries whose key has the prefix, and no others', async () => {
      const store = await create();
      const kept = [
        'task:',
        'task:1',
        'task:2',
        'task:\uffff',
        'task:😀',
        'task',
        'tasks:1',
        'a',
        'z',
        'TASK:3',
      ];
      for (const key of kept) await store.set(key, { key });
      expect(await all(store, 'task:1')).toEqual([{ key: 'task:1', value: { key: 'task:1' } }]);
      expect(await keys(store, 'task:')).toEqual(kept.slice(0, 5).sort());
      expect(await keys(store, '')).toEqual([...kept].sort());
      expect(await all(store, 'nothing')).toEqual([]);
      await store.close();
    });

    test('may be changed while its entries are iterated', async () => {
      const store = await create();
      for (const n of [1, 2, 3]) await store.set(`a${n}`, { n });
      const seen: unknown[] = [];
      for await (const [key, value] of store.entries('a')) {
        seen.push(value['n']);
        await store.delete(key);
        await store.delete('a3');
      }
      expect(seen).toEqual([1, 2]);
      await store.close();
    });

    test('forgets expired entries', async () => {
      const store = await create();
      await store.set('past', { n: 1 }, Date.now() - 1);
      await store.set('soon', { n: 2 }, Date.now() + 150);
      await store.set('later', { n: 3 }, Date.now() + 3_600_000);
      expect(await store.get('past')).toBeUndefined();
      expect(await store.get('soon')).toEqual({ n: 2 });
      expect(await store.add('soon', { n: 4 })).toBe(false);
      await until('it has expired', async () => (await store.get('soon')) === undefined);
      expect(await keys(store, '')).toEqual(['later']);
      expect(await store.add('soon', { n: 5 })).toBe(true);
      expect(await store.get('soon')).toEqual({ n: 5 });
      await store.close();
    });

    test('replaces the old expiry with a new one', async () => {
      const store = await create();
      const first = Date.now() + 100;
      await store.set('longer', { n: 1 }, first);
      await store.set('longer', { n: 2 }, Date.now() + 3_600_000);
      await store.set('forever', { n: 1 }, first);
      await store.set('forever', { n: 2 });
      await store.set('shorter', { n: 1 }, Date.now() + 3_600_000);
      await store.set('shorter', { n: 2 }, first);
      await until('the first expiry is over', async () => (await store.get('shorter')) === undefined);
      expect(await keys(store, '')).toEqual(['forever', 'longer']);
      await store.close();
    });

    test('may be closed twice', async () => {
      const store = await create();
      await store.set('a', { n: 1 });
      await store.close();
      await store.close();
    });
  });
}
