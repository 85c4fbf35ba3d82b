// The contract of a store: entries.

import assert from 'node:assert/strict';
import type { JsonObject } from '../../jsonrpc/message.js';
import { eventually, rejectsAsImpossible, type StoreCases, uniqueName } from './contract.js';

const values: readonly JsonObject[] = [
  {},
  { text: 'a\0b\u0001\n\r\t"\\\u2028', emoji: '😀', lone: 'a\ud800b', long: 'é漢'.repeat(20_000) },
  {
    numbers: [0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER],
    nothing: null,
    yes: true,
    empty: [{}, [], ''],
  },
  JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "": 3}') as JsonObject,
];

/** The cases about entries. */
export const entryCases: StoreCases = {
  async 'A store returns the entry that was written last'({ store, other, group }) {
    const key = `a:${group}:x`;
    assert.equal(await store.get(key), undefined);
    for (const value of values) {
      assert.deepEqual(await store.write([{ do: 'put', key, value }]), { ok: true });
      const entry = await other.get(key);
      assert.deepEqual(entry?.value, value);
      assert.equal(entry?.key, key);
      assert.equal(entry?.expiresInMs, undefined);
    }
    await store.write([{ do: 'delete', key }]);
    await store.write([{ do: 'delete', key }]);
    assert.equal(await other.get(key), undefined);
  },

  async 'A store keeps and returns copies, so that its callers cannot change what it has'({ store, group }) {
    const key = `a:${group}`;
    const value = { list: [1], inner: { n: 1 } };
    const writing = store.write([
      { do: 'put', key, value },
      { do: 'append', list: `l:${group}`, name: 'a', value },
    ]);
    value.list.push(2);
    await writing;
    value.inner.n = 2;
    const expected = { list: [1], inner: { n: 1 } };
    for (let n = 0; n < 2; n++) {
      const read = (await store.get(key))?.value as typeof value;
      assert.deepEqual(read, expected);
      read.inner.n = 3;
      const [item] = await store.items(`l:${group}`);
      assert.deepEqual(item?.value, expected);
      (item.value as typeof value).inner.n = 4;
    }
  },

  async 'A store may be closed twice'({ store }) {
    await store.close();
    await store.close();
  },

  async 'A store writes an entry only if it is absent'({ store, other, group }) {
    const put = (n: number) => ({ do: 'put', key: `a:${group}`, value: { n }, if: 'absent' }) as const;
    assert.deepEqual(await store.write([put(1)]), { ok: true });
    assert.deepEqual(await other.write([put(2)]), { ok: false, refusedBy: 0 });
    assert.deepEqual((await store.get(`a:${group}`))?.value, { n: 1 });
    const fresh = `b:${group}`;
    const writes = Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? store : other).write([{ do: 'put', key: fresh, value: { n }, if: 'absent' }]),
    );
    const results = await Promise.all(writes);
    assert.equal(results.filter(({ ok }) => ok).length, 1);
    assert.deepEqual((await store.get(fresh))?.value, { n: results.findIndex(({ ok }) => ok) });
  },

  async 'A store writes and deletes an entry only if it has the expected version'({ store, other, group }) {
    const key = `a:${group}`;
    await store.write([{ do: 'put', key, value: { n: 0 } }]);
    const version = (await store.get(key))?.version as string;
    const writes = Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? store : other).write([{ do: 'put', key, value: { n }, if: { version } }]),
    );
    assert.equal((await Promise.all(writes)).filter(({ ok }) => ok).length, 1);
    assert.deepEqual(await store.write([{ do: 'delete', key, if: { version } }]), {
      ok: false,
      refusedBy: 0,
    });
    const now = (await other.get(key))?.version as string;
    assert.notEqual(now, version);
    assert.deepEqual(await store.write([{ do: 'delete', key, if: { version: now } }]), { ok: true });
    assert.deepEqual(await store.write([{ do: 'put', key, value: {}, if: { version: now } }]), {
      ok: false,
      refusedBy: 0,
    });
  },

  async 'A store never gives an entry the same version twice, even if it was deleted in between'({
    store,
    group,
  }) {
    const key = `a:${group}`;
    const versions = new Set<string | undefined>();
    for (let n = 0; n < 10; n++) {
      await store.write([{ do: 'put', key, value: { same: true } }]);
      versions.add((await store.get(key))?.version);
      if (n % 3 === 0) await store.write([{ do: 'delete', key }]);
    }
    assert.equal(versions.size, 10);
  },

  async 'A store forgets an entry when its time is over'({ store, other, group }) {
    const [short, long] = [`a:${group}:short`, `a:${group}:long`];
    await store.write([
      { do: 'put', key: short, value: {}, ttlMs: 150 },
      { do: 'put', key: long, value: { n: 1 }, ttlMs: 600_000 },
    ]);
    const left = (await other.get(long))?.expiresInMs as number;
    assert.ok(left > 0 && left <= 600_000, `expiresInMs is ${left}`);
    await eventually('the entry expired', async () =>
      (await other.get(short)) === undefined ? true : undefined,
    );
    assert.deepEqual(await store.page(`a:${group}:`).then((page) => page.map(({ key }) => key)), [long]);
    assert.deepEqual(await store.write([{ do: 'put', key: short, value: {}, if: 'absent' }]), { ok: true });
    assert.equal((await store.get(short))?.expiresInMs, undefined);
  },

  async 'A store keeps the expiry of an entry that is written without one'({ store, group }) {
    const key = `a:${group}`;
    await store.write([{ do: 'put', key, value: { n: 1 }, ttlMs: 600_000 }]);
    await store.write([{ do: 'put', key, value: { n: 2 } }]);
    const kept = await store.get(key);
    assert.ok((kept?.expiresInMs as number) <= 600_000);
    assert.deepEqual(kept?.value, { n: 2 });
    await store.write([{ do: 'put', key, value: { n: 3 }, ttlMs: 6_000_000 }]);
    assert.ok(((await store.get(key))?.expiresInMs as number) > 600_000);
  },

  async 'A store returns entries by pages, in the order of the bytes of their keys'({ store, other }) {
    const kind = `k${uniqueName()}`;
    const groups = ['%', '_', 'A', 'Z', '\\', 'a', 'ab', 'b', 'é', '漢', '\uffee', '😀'];
    for (const group of [...groups].reverse())
      await store.write([{ do: 'put', key: `${kind}:${group}`, value: { group } }]);
    await store.write([{ do: 'put', key: `${kind}x:a`, value: {} }]);
    const expected = groups
      .map((group) => `${kind}:${group}`)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const keys: string[] = [];
    for (let after: string | undefined; ; after = keys.at(-1)) {
      const page = await other.page(`${kind}:`, { limit: 5, ...(after !== undefined && { after }) });
      assert.ok(page.length <= 5);
      keys.push(...page.map(({ key }) => key));
      for (const { key, value, version } of page) {
        assert.equal(`${kind}:${String(value['group'])}`, key);
        assert.equal(typeof version, 'string');
      }
      if (page.length === 0) break;
    }
    assert.deepEqual(keys, expected);
    assert.deepEqual(
      (await store.page(`${kind}:a`)).map(({ key }) => key),
      [`${kind}:a`, `${kind}:ab`],
    );
    assert.deepEqual(await store.page(`${kind}:%a`), []);
  },

  async 'A store rejects keys that it cannot keep'({ store, group }) {
    const put = (key: string) => store.write([{ do: 'put', key, value: {} }]);
    await rejectsAsImpossible(put(`a:${group}:${'x'.repeat(512)}`));
    await rejectsAsImpossible(put(`a:${group}:a\0b`));
    await rejectsAsImpossible(put(`a:${group}:a\ud800`));
    await rejectsAsImpossible(put('without-group'));
    const longest = `a:${group}:`.padEnd(512, 'x');
    assert.deepEqual(await put(longest), { ok: true });
    assert.ok(await store.get(longest));
  },

  async 'A store makes all changes of a write, or none of them'({ store, other, group }) {
    const [a, b] = [`a:${group}`, `b:${group}`];
    await store.write([{ do: 'put', key: b, value: { n: 1 } }]);
    const refused = await store.write([
      { do: 'put', key: a, value: {} },
      { do: 'append', list: `l:${group}`, name: 'x', value: {} },
      { do: 'count', key: `c:${group}`, by: 1 },
      { do: 'enqueue', queue: 'q', key: group, inMs: 60_000 },
      { do: 'put', key: b, value: { n: 2 }, if: 'absent' },
      { do: 'expect', list: `l:${group}`, size: 7 },
    ]);
    assert.deepEqual(refused, { ok: false, refusedBy: 4 });
    assert.equal(await other.get(a), undefined);
    assert.deepEqual((await other.get(b))?.value, { n: 1 });
    assert.deepEqual(await other.items(`l:${group}`), []);
    assert.equal(await other.get(`c:${group}`), undefined);
    const written = await store.write([
      { do: 'delete', key: b },
      { do: 'expect', list: `l:${group}`, size: 0 },
      { do: 'append', list: `l:${group}`, name: 'x', value: {} },
      { do: 'append', list: `l:${group}`, name: 'y', value: {} },
      { do: 'put', key: a, value: {}, if: 'absent' },
    ]);
    assert.deepEqual(written, { ok: true });
    assert.equal(await other.get(b), undefined);
    assert.equal((await other.items(`l:${group}`)).length, 2);
  },

  async 'A store rejects a write that touches two groups, or one place twice'({ store, group }) {
    const put = (key: string) => ({ do: 'put', key, value: {} }) as const;
    await rejectsAsImpossible(store.write([put(`a:${group}`), put(`a:${group}2`)]));
    await rejectsAsImpossible(
      store.write([put(`a:${group}`), { do: 'enqueue', queue: 'q', key: `${group}2` }]),
    );
    await rejectsAsImpossible(store.write([put(`a:${group}`), { do: 'delete', key: `a:${group}` }]));
    await rejectsAsImpossible(store.write([{ do: 'release', inMs: 0 }]));
    await rejectsAsImpossible(store.write([]));
    assert.equal(await store.get(`a:${group}`), undefined);
  },
};
