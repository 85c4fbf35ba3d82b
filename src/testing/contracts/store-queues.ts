// The contract of a store: queues and leases.

import assert from 'node:assert/strict';
import type { Lease, Store } from '../../state/store.js';
import { eventually, type StoreCases, uniqueName } from './contract.js';

/** The cases about queues. */
export const queueCases: StoreCases = {
  async 'A queue gives out keys that are due, the longest due first, each to one process'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    assert.deepEqual(await claim(store, queue), []);
    // In one write, so that they count from one time, however slow the store is.
    await store.write([40, 0, 20].map((inMs, at) => ({ do: 'enqueue', queue, key: `${group}:${at}`, inMs })));
    await store.write([{ do: 'enqueue', queue, key: `${group}:later`, inMs: 600_000 }]);
    assert.equal(await other.size(queue), 4);
    const order: string[] = [];
    await eventually('three keys were claimed', async () => {
      order.push(
        ...(await claim(order.length % 2 ? store : other, queue, { limit: 1 })).map(({ key }) => key),
      );
      return order.length === 3 ? true : undefined;
    });
    assert.deepEqual(order, [`${group}:1`, `${group}:2`, `${group}:0`]);
    assert.deepEqual(await claim(store, queue), []);
    assert.equal(await store.size(queue), 4);
  },

  async 'A queue never gives one key to two processes at a time'({ store, other, group }) {
    const queue = `q${uniqueName()}`;
    for (let n = 0; n < 50; n++) await store.write([{ do: 'enqueue', queue, key: `${group}:${n}` }]);
    const claims = Array.from({ length: 20 }, (_, n) => claim(n % 2 ? store : other, queue, { limit: 4 }));
    const leases = (await Promise.all(claims)).flat();
    for (;;) {
      const more = await claim(store, queue);
      if (more.length === 0) break;
      leases.push(...more);
    }
    assert.equal(leases.length, 50);
    assert.equal(new Set(leases.map(({ key }) => key)).size, 50);
    assert.equal(new Set(leases.map(({ token }) => token)).size, 50);
    for (const lease of leases) assert.deepEqual([lease.queue, lease.attempt], [queue, 1]);
  },

  async 'A lease that is not renewed ends, and the next claim has a greater token and the next attempt'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [first] = (await claim(store, queue, { ms: 100 })) as [Lease];
    assert.deepEqual([first.key, first.attempt], [group, 1]);
    const [second] = await claimed(other, queue);
    assert.deepEqual([second.key, second.attempt], [group, 2]);
    assert.ok(second.token > first.token);
    assert.deepEqual(await store.renew([first], 1000), []);
    assert.deepEqual(await other.renew([second], 600_000), [second]);
  },

  async 'A lease that is renewed does not end, even if it was renewed late but before another claim'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: `${group}:a` }]);
    const [lease] = (await claim(store, queue, { ms: 1 })) as [Lease];
    await store.write([{ do: 'enqueue', queue, key: `${group}:b`, inMs: 50 }]);
    assert.deepEqual(await store.renew([lease], 600_000), [lease]);
    const leases = await claimed(other, queue);
    assert.deepEqual(
      leases.map(({ key }) => key),
      [`${group}:b`],
    );
    assert.deepEqual(await other.renew([...leases, lease], 600_000), [...leases, lease]);
  },

  async 'A key that is released is due again after its delay, and its attempts are counted anew'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [first] = await claimed(store, queue);
    assert.deepEqual(await store.write([{ do: 'release', inMs: 600_000 }], { guard: first }), { ok: true });
    assert.deepEqual(await claim(other, queue), []);
    await other.write([{ do: 'enqueue', queue, key: group }]);
    const [second] = await claimed(other, queue);
    assert.equal(second.attempt, 1);
    assert.deepEqual(await store.renew([first], 1000), []);
    await other.write([{ do: 'release', inMs: 0, keepAttempt: true }], { guard: second });
    const [third] = await claimed(store, queue);
    assert.equal(third.attempt, 2);
    await store.write([{ do: 'enqueue', queue, key: group }]);
    await store.write([{ do: 'release', inMs: 600_000 }], { guard: third });
    assert.deepEqual(await claim(store, queue), []);
  },

  async 'A key that is enqueued again is due at the earlier time'({ store, group }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    await store.write([{ do: 'enqueue', queue, key: group, inMs: 600_000 }]);
    assert.equal(await store.size(queue), 1);
    await claimed(store, queue);
  },

  async 'A key that is removed from its queue is not given out, and its lease is over'({
    store,
    other,
    group,
  }) {
    const queue = `q${uniqueName()}`;
    await store.write([{ do: 'enqueue', queue, key: group }]);
    const [lease] = await claimed(store, queue);
    assert.deepEqual(await other.write([{ do: 'dequeue', queue, key: group }]), { ok: true });
    assert.deepEqual(await store.renew([lease], 1000), []);
    assert.equal(await store.size(queue), 0);
    assert.deepEqual(await other.write([{ do: 'dequeue', queue, key: group }]), { ok: true });
    await other.write([{ do: 'enqueue', queue, key: group }]);
    const [again] = await claimed(other, queue);
    assert.ok(again.token > lease.token);
    assert.equal(again.attempt, 1);
  },

  async 'A key can be held from the start, unless it is in the queue already'({ store, other, group }) {
    const queue = `q${uniqueName()}`;
    const hold = { do: 'enqueue', queue, key: group, hold: { owner: 'me', ms: 600_000 } } as const;
    const written = await store.write([{ do: 'put', key: `a:${group}`, value: {}, if: 'absent' }, hold]);
    const lease = written.ok ? written.lease : undefined;
    assert.deepEqual([lease?.queue, lease?.key, lease?.attempt], [queue, group, 1]);
    assert.deepEqual(await claim(other, queue), []);
    assert.deepEqual(await other.write([hold]), { ok: false, refusedBy: 0 });
    const put = { do: 'put', key: `a:${group}`, value: { n: 1 } } as const;
    assert.deepEqual(await store.write([put], { guard: lease as Lease }), { ok: true });
    assert.deepEqual(await store.renew([lease as Lease], 1), [lease]);
    const [next] = await claimed(other, queue);
    assert.equal(next.attempt, 2);
    assert.ok(next.token > (lease as Lease).token);
  },
};

/** Claims what is due now. */
export function claim(
  store: Store,
  queue: string,
  { limit = 100, ms = 600_000 }: { readonly limit?: number; readonly ms?: number } = {},
): Promise<readonly Lease[]> {
  return store.claim(queue, { owner: 'contract', limit, ms });
}

/** Claims until there is something to claim. */
export function claimed(store: Store, queue: string): Promise<readonly [Lease, ...Lease[]]> {
  return eventually(`a key of ${queue} was due`, async () => {
    const [first, ...others] = await claim(store, queue);
    return first && ([first, ...others] as const);
  });
}
