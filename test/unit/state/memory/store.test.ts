import { storeContract } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../src/state/memory/store.js';
import { growth } from '../../../support/growth.js';

describe('memoryStore', () => {
  for (const { name, run } of storeContract({ open: () => memoryStore() })) test(name, run);
});

test('a page of a store with many keys takes not much longer than sorting them', async () => {
  const store = memoryStore();
  const keys = Array.from(
    { length: 2000 },
    (_, n) => `event-index:the group of the keys:${(n * 7919) % 2000}`,
  );
  for (const key of keys) await store.write([{ do: 'put', key, value: {} }]);
  const sorted = (): unknown => [...keys].sort();
  const page = (): unknown => store.page('event-index:', { limit: 10 });
  expect(growth((work) => work(), sorted, page)).toBeLessThan(100);
});
