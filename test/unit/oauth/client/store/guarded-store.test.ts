import { tokenStoreContract } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { guardedStore } from '../../../../../src/oauth/client/store/guarded-store.js';
import { memoryTokenStore } from '../../../../../src/oauth/client/store/memory-token-store.js';
import type { TokenStore } from '../../../../../src/oauth/client/store/token-store.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { failureOf } from '../../../../support/failure.js';

for (const { name, run } of tokenStoreContract({ open: () => guardedStore(memoryTokenStore()) }))
  test(name, run);

const full = Object.assign(new Error('no space left for "secret"'), { code: 'ENOSPC' });
const failing = (error: Error): TokenStore => {
  const fail = () => Promise.reject(error);
  return { get: fail, set: fail, delete: fail, lock: fail };
};
const uses: [string, (store: TokenStore) => Promise<unknown>][] = [
  ['get', (store) => store.get('a')],
  ['set', (store) => store.set('a', 'b')],
  ['delete', (store) => store.delete('a')],
  ['lock', (store) => store.lock('a', { ms: 1 })],
];

test.each(uses)('the error of a store that fails in `%s` says so, without its message', async (_, use) => {
  const error = await failureOf(McpError, use(guardedStore(failing(full))));
  expect(error.message).toMatch(/^The token store failed \(ENOSPC\), .*\./);
  expect(error.message).not.toContain('secret');
  expect(error.cause).toBe(full);
});

test.each(uses)('an error of fullmcp in `%s` stays as it is', async (_, use) => {
  const own = new McpError('unauthorized', 'The keychain is locked.');
  expect(await failureOf(McpError, use(guardedStore(failing(own))))).toBe(own);
});

test('an abort while waiting for the lock rejects with its reason', async () => {
  const store = guardedStore(memoryTokenStore());
  await store.lock('a', { ms: 10_000 });
  const stop = new AbortController();
  const waiting = failureOf(Error, store.lock('a', { ms: 1, signal: stop.signal }));
  stop.abort(new Error('given up'));
  expect((await waiting).message).toBe('given up');
});
