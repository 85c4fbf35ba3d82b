// The contract of a store: counts.

import assert from 'node:assert/strict';
import { eventually, type StoreCases } from './contract.js';

/** The cases about counts. */
export const countCases: StoreCases = {
  async 'A count adds up what all processes count, and never exceeds its maximum'({ store, other, group }) {
    const key = `c:${group}`;
    const count = (n: number) => (n % 2 ? store : other).write([{ do: 'count', key, by: 2, max: 10 }]);
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => count(n)));
    assert.equal(results.filter(({ ok }) => ok).length, 5);
    for (const result of results) if (!result.ok) assert.equal(result.refusedBy, 0);
    assert.deepEqual((await store.get(key))?.value, { count: 10 });
    assert.deepEqual(await store.write([{ do: 'count', key, by: 3 }]), { ok: true });
    assert.deepEqual((await other.get(key))?.value, { count: 13 });
    assert.deepEqual(await store.write([{ do: 'count', key, by: -1, max: 10 }]), { ok: true });
  },

  async 'A count is never negative, and is removed at 0'({ store, group }) {
    const key = `c:${group}`;
    await store.write([{ do: 'count', key, by: 2 }]);
    await store.write([{ do: 'count', key, by: -5 }]);
    assert.equal(await store.get(key), undefined);
    await store.write([{ do: 'count', key, by: -1 }]);
    assert.equal(await store.get(key), undefined);
    await store.write([{ do: 'count', key, by: 1, max: 1 }]);
    assert.deepEqual((await store.get(key))?.value, { count: 1 });
  },

  async 'A count expires by its first time limit, so that counting on does not extend it'({ store, group }) {
    const [window, key] = [`c:${group}:window`, `c:${group}:long`];
    await store.write([{ do: 'count', key: window, by: 1, max: 1, ttlMs: 200 }]);
    await store.write([{ do: 'count', key, by: 1, ttlMs: 600_000 }]);
    await store.write([{ do: 'count', key, by: 1, ttlMs: 60_000_000 }]);
    assert.ok(((await store.get(key))?.expiresInMs as number) <= 600_000);
    await eventually('the window was over', async () => {
      const { ok } = await store.write([{ do: 'count', key: window, by: 1, max: 1, ttlMs: 60_000 }]);
      return ok ? true : undefined;
    });
    assert.deepEqual((await store.get(window))?.value, { count: 1 });
  },
};
