// The contract of a store: writes under a lease.

import assert from 'node:assert/strict';
import type { Lease, Store, StoreChange } from '../../state/store.js';
import { type StoreCases, uniqueName } from './contract.js';
import { claim, claimed } from './store-queues.js';

/** The cases about writes under a lease. */
export const guardCases: StoreCases = {
  async 'A write under a lease is made while the lease is held, and refused after another claim'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [stale] = (await claim(store, queue, { ms: 50 })) as [Lease];
    assert.deepEqual(await store.write(changes(group, 'first'), { guard: stale }), { ok: true });
    const [lease] = await claimed(other, queue);
    await assertRefused(store, group, stale);
    assert.deepEqual(await other.write(changes(group, 'second'), { guard: lease }), { ok: true });
    await assertRefused(store, group, stale);
  },

  async 'A write under a lease that has ended is made as long as nobody else has claimed the key'({
    store,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: `${group}:a` }]);
    const [lease] = (await claim(store, queue, { ms: 1 })) as [Lease];
    await store.write([{ do: 'enqueue', queue, key: `${group}:b`, inMs: 30 }]);
    assert.deepEqual(await store.write(changes(group, 'late'), { guard: lease }), { ok: true });
  },

  async 'A lease is never valid again after the key was removed and enqueued anew'({ store, other, group }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [stale] = await claimed(store, queue);
    await other.write([{ do: 'dequeue', queue, key: group }]);
    await assertRefused(store, group, stale);
    await other.write([{ do: 'enqueue', queue, key: group }]);
    await assertRefused(store, group, stale);
    await claimed(other, queue);
    await assertRefused(store, group, stale);
  },

  async 'A lease is over when it was released'({ store, group }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [lease] = await claimed(store, queue);
    const last: StoreChange[] = [...changes(group, 'last'), { do: 'release', inMs: 600_000 }];
    assert.deepEqual(await store.write(last, { guard: lease }), { ok: true });
    await assertRefused(store, group, lease);
    const end = { queue, key: group };
    await store.write([{ do: 'enqueue', ...end }]);
    const [again] = await claimed(store, queue);
    assert.deepEqual(
      await store.write([{ do: 'dequeue', ...end }, ...changes(group, 'end')], { guard: again }),
      { ok: true },
    );
    await assertRefused(store, group, again);
  },

  async 'A guard counts only for its own queue and key'({ store, group }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [lease] = await claimed(store, queue);
    await assertRefused(store, group, { ...lease, queue: `${queue}2` });
    await assertRefused(store, group, { ...lease, key: `${group}:other` });
    await assertRefused(store, group, { ...lease, token: lease.token + 1 });
  },

  async 'News that arrive while a key is released are never missed'({ store, other, group }) {
    const queue = `q${uniqueName()}`;
    for (let round = 0; round < 100; round++) {
      const key = `${group}:${round}`;
      const receiver = `receiver:${key}`;
      const held = await store.write([{ do: 'enqueue', queue, key, hold: { owner: 'me', ms: 600_000 } }]);
      assert.ok(held.ok && held.lease);
      const release = () =>
        store.write(
          [
            { do: 'expect', list: receiver, size: 0 },
            { do: 'release', inMs: 600_000 },
          ],
          {
            guard: held.lease as Lease,
          },
        );
      const append = { do: 'append', list: receiver, name: 'answer', value: {} } as const;
      const tell = () => other.write([append, { do: 'enqueue', queue, key }]);
      const [first, second] = await Promise.all(round % 2 ? [release(), tell()] : [tell(), release()]);
      const [released, arrived] = round % 2 ? [first, second] : [second, first];
      assert.deepEqual(arrived, { ok: true });
      if (released?.ok)
        assert.deepEqual(
          (await claimed(store, queue)).map((lease) => lease.key),
          [key],
        );
      else assert.equal((await store.items(receiver)).length, 1);
    }
  },
};

function changes(group: string, name: string): StoreChange[] {
  return [
    { do: 'put', key: `head:${group}`, value: { name } },
    { do: 'append', list: `journal:${group}`, name, value: {} },
    { do: 'count', key: `count:${group}`, by: 1 },
  ];
}

/** Tries everything that a process with an old lease might still do, each with a name that is not taken. */
async function assertRefused(store: Store, group: string, guard: Lease): Promise<void> {
  const key = `head:${group}`;
  const before = await store.get(key);
  const items = await store.items(`journal:${group}`);
  const attempts: readonly (readonly StoreChange[])[] = [
    changes(group, `stale ${uniqueName()}`),
    [{ do: 'put', key, value: { stale: true } }],
    [{ do: 'append', list: `journal:${group}`, name: uniqueName(), value: {} }],
    [{ do: 'delete', key }],
    [{ do: 'drop', list: `journal:${group}` }],
    [{ do: 'release', inMs: 0 }],
    [{ do: 'dequeue', queue: guard.queue, key: guard.key }],
    ...(before === undefined
      ? []
      : [[{ do: 'put', key, value: {}, if: { version: before.version } } as const]]),
  ];
  for (const attempt of attempts)
    assert.deepEqual(await store.write(attempt, { guard }), { ok: false, refusedBy: 'guard' });
  assert.deepEqual(await store.get(key).then((entry) => entry?.version), before?.version);
  assert.deepEqual(await store.items(`journal:${group}`), items);
}
