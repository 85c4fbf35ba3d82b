// The contract of a token store, as cases for any test runner.

import assert from 'node:assert/strict';
import { delay } from '../../async/delay.js';
import type { TokenStore } from '../../oauth/client/store/token-store.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { type ContractCase, uniqueName } from './contract.js';

/** The token store that a contract suite tests. */
export interface TokenStoreContractOptions {
  /** Opens the store. Called for each case. It may have the contents of earlier cases. */
  readonly open: () => TokenStore | Promise<TokenStore>;
  /** Opens the same store again, as another process would. Default: the store that `open` returned. */
  readonly openAnother?: () => TokenStore | Promise<TokenStore>;
}

const optionTable = {
  open: { is: 'function', required: true },
  openAnother: 'function',
} as const satisfies OptionTable<TokenStoreContractOptions>;

interface TokenStoreCase {
  readonly store: TokenStore;
  readonly other: TokenStore;
  readonly key: string;
}

/**
 * Makes the cases that every token store has to pass. Pass each to your test runner.
 *
 * @example
 * for (const { name, run } of tokenStoreContract({ open: () => memoryTokenStore() })) test(name, run);
 */
export function tokenStoreContract(options: TokenStoreContractOptions): readonly ContractCase[] {
  const { open, openAnother } = readOptions('tokenStoreContract', options, optionTable);
  return Object.entries(cases).map(([name, test]) => ({
    name,
    async run() {
      const store = await open();
      await test({ store, other: (await openAnother?.()) ?? store, key: uniqueName() });
    },
  }));
}

/** Longer than any case takes. */
const LONG_MS = 60_000;

const cases: Readonly<Record<string, (subject: TokenStoreCase) => Promise<void>>> = {
  async 'A token store returns what was written, also to another process'({ store, other, key }) {
    assert.equal(await store.get(key), undefined);
    const value = `{"token":"é漢😀\\u0000","long":"${'x'.repeat(100_000)}"}`;
    assert.equal(await store.set(key, value), true);
    assert.equal(await store.get(key), value);
    assert.equal(await other.get(key), value);
    assert.equal(await other.set(key, 'second'), true);
    assert.equal(await store.get(key), 'second');
  },

  async 'A token store writes with `expected` only if the current value is that one'({ store, other, key }) {
    assert.equal(await store.set(key, 'a', { expected: 'b' }), false);
    assert.equal(await store.get(key), undefined);
    assert.equal(await store.set(key, 'a', { expected: null }), true);
    assert.equal(await other.set(key, 'b', { expected: null }), false);
    assert.equal(await other.set(key, 'b', { expected: 'x' }), false);
    assert.equal(await other.set(key, 'b', { expected: 'a' }), true);
    assert.equal(await store.set(key, 'c', { expected: 'a' }), false);
    assert.equal(await store.get(key), 'b');
  },

  async 'A token store lets one of many writers with the same `expected` win'({ store, other, key }) {
    await store.set(key, 'start');
    const writers = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? store : other).set(key, `writer ${n}`, { expected: 'start' }),
    );
    const written = await Promise.all(writers);
    assert.equal(written.filter(Boolean).length, 1);
    assert.equal(await other.get(key), `writer ${written.indexOf(true)}`);
  },

  async 'A token store forgets a deleted value'({ store, other, key }) {
    await store.delete(key);
    await store.set(key, 'a');
    await other.delete(key);
    assert.equal(await store.get(key), undefined);
    assert.equal(await store.set(key, 'b', { expected: 'a' }), false);
    assert.equal(await store.set(key, 'b', { expected: null }), true);
    assert.equal(await other.get(key), 'b');
  },

  async 'A token store keeps keys apart, whatever characters they have'({ store, other, key }) {
    const keys = [
      '',
      '/',
      '/../x',
      '\\',
      ':a',
      ':A',
      ' a',
      'é',
      'e\u0301',
      '\u0000',
      '__proto__',
      'y'.repeat(3000),
    ];
    for (const end of keys)
      assert.equal(await store.set(key + end, `value of ${end}`, { expected: null }), true);
    for (const end of keys) assert.equal(await other.get(key + end), `value of ${end}`);
  },

  async 'A lock of a token store is held by one at a time'({ store, other, key }) {
    let holders = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const release = await (n % 2 === 0 ? store : other).lock(key, { ms: LONG_MS });
        most = Math.max(most, ++holders);
        await delay(2);
        holders--;
        await release();
      }),
    );
    assert.equal(most, 1);
  },

  async 'A lock of a token store does not concern other keys, nor reading and writing'({
    store,
    other,
    key,
  }) {
    const release = await store.lock(key, { ms: LONG_MS });
    const releaseOther = await other.lock(`${key}2`, { ms: LONG_MS });
    assert.equal(await other.set(key, 'a', { expected: null }), true);
    assert.equal(await other.get(key), 'a');
    await release();
    await releaseOther();
  },

  async 'A lock of a token store ends after its time, and a late release does not free the next holder'({
    store,
    other,
    key,
  }) {
    const lateRelease = await store.lock(key, { ms: 30 });
    const release = await other.lock(key, { ms: LONG_MS });
    await lateRelease();
    await lateRelease();
    const waiting = new AbortController();
    const third = store.lock(key, { ms: LONG_MS, signal: waiting.signal });
    const reason = new Error('gave up');
    setTimeout(() => waiting.abort(reason), 50);
    await assert.rejects(third, (error) => error === reason);
    await release();
    await (await store.lock(key, { ms: LONG_MS }))();
  },
};
