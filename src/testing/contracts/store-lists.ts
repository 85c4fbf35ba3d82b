// The contract of a store: lists.

import assert from 'node:assert/strict';
import { eventually, type StoreCases } from './contract.js';

/** The cases about lists. */
export const listCases: StoreCases = {
  async 'A list returns its items in the order in which they were appended'({ store, other, group }) {
    const list = `l:${group}:x`;
    assert.deepEqual(await store.items(list), []);
    const names = ['b', 'a', '"\\u0000"', '__proto__', 'é漢😀', '1', '0'];
    for (const name of names) await store.write([{ do: 'append', list, name, value: { name } }]);
    const items = await other.items(list);
    assert.deepEqual(
      items.map(({ name }) => name),
      names,
    );
    assert.deepEqual(
      items.map(({ value }) => value['name']),
      names,
    );
    const positions = items.map(({ at }) => at);
    assert.deepEqual(
      positions,
      [...positions].sort((a, b) => a - b),
    );
    assert.equal(new Set(positions).size, positions.length);
    const rest = await other.items(list, { after: positions[4] as number });
    assert.deepEqual(
      rest.map(({ name }) => name),
      names.slice(5),
    );
    assert.deepEqual(await store.items(`l:${group}:y`), []);
  },

  async 'A list has each name once'({ store, other, group }) {
    const list = `l:${group}`;
    const append = (name: string, n: number) =>
      (n % 2 ? store : other).write([{ do: 'append', list, name, value: { n } }]);
    const results = await Promise.all(Array.from({ length: 40 }, (_, n) => append(`name ${n % 4}`, n)));
    assert.equal(results.filter(({ ok }) => ok).length, 4);
    for (const result of results) if (!result.ok) assert.equal(result.refusedBy, 0);
    const items = await store.items(list);
    assert.deepEqual(items.map(({ name }) => name).sort(), ['name 0', 'name 1', 'name 2', 'name 3']);
    for (const { value } of items) assert.ok(results[value['n'] as number]?.ok);
  },

  async 'A list that was dropped is empty, and its positions do not start again'({ store, group }) {
    const list = `l:${group}`;
    await store.write([{ do: 'append', list, name: 'a', value: { n: 1 } }]);
    const [before] = await store.items(list);
    await store.write([{ do: 'drop', list }]);
    assert.deepEqual(await store.items(list), []);
    assert.deepEqual(await store.write([{ do: 'append', list, name: 'a', value: { n: 2 } }]), { ok: true });
    const [after] = await store.items(list, { after: before?.at as number });
    assert.deepEqual(after?.value, { n: 2 });
  },

  async 'A list expires as a whole'({ store, other, group }) {
    const [short, long] = [`l:${group}:short`, `l:${group}:long`];
    await store.write([
      { do: 'append', list: short, name: 'a', value: {}, ttlMs: 600_000 },
      { do: 'append', list: short, name: 'b', value: {}, ttlMs: 150 },
      { do: 'append', list: long, name: 'a', value: {}, ttlMs: 600_000 },
    ]);
    await store.write([{ do: 'append', list: long, name: 'b', value: {} }]);
    await eventually('the list expired', async () =>
      (await other.items(short)).length === 0 ? true : undefined,
    );
    assert.deepEqual(await store.write([{ do: 'expect', list: short, size: 0 }]), { ok: true });
    assert.deepEqual(await store.write([{ do: 'append', list: short, name: 'a', value: {} }]), { ok: true });
    assert.equal((await store.items(short)).length, 1);
    assert.equal((await store.items(long)).length, 2);
  },

  async 'A write can expect the number of items of a list'({ store, group }) {
    const list = `l:${group}`;
    const put = { do: 'put', key: `a:${group}`, value: {} } as const;
    await store.write([{ do: 'append', list, name: 'a', value: {} }]);
    assert.deepEqual(await store.write([put, { do: 'expect', list, size: 0 }]), { ok: false, refusedBy: 1 });
    assert.equal(await store.get(put.key), undefined);
    assert.deepEqual(await store.write([{ do: 'expect', list, size: 1 }, put]), { ok: true });
  },
};
