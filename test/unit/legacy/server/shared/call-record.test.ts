import { expect, test } from 'vitest';
import {
  CallRecord,
  runKey,
  type StreamingCall,
} from '../../../../../src/legacy/server/shared/call-record.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import type { Lease } from '../../../../../src/state/store.js';

const running: StreamingCall = { stream: 's.p1', ids: [1], isBatch: false, revision: '2025-11-25' };
const QUEUE = 'call:test';

async function recorded() {
  const store = memoryStore();
  const key = runKey('tag', 'a1');
  const written = await store.write([
    { do: 'put', key, value: { ...running } },
    { do: 'enqueue', queue: QUEUE, key: 'tag:run:a1', hold: { owner: 'one', ms: 60_000 } },
  ]);
  const lease = (written as { lease: Lease }).lease;
  const held = { tag: 'tag', run: 'a1', running, lease, requestedAt: performance.now() };
  const parts = { store, forget: () => undefined, confirm: () => true };
  return { store, key, record: new CallRecord(held, parts) };
}

test('a call that was given to another process keeps its record when it ends here', async () => {
  const { store, key, record } = await recorded();
  await Promise.all([record.release(), record.end()]);
  expect(await store.get(key)).toBeDefined();
  expect(await store.claim(QUEUE, { owner: 'two', limit: 1, ms: 60_000 })).toHaveLength(1);
  expect(record.confirm()).toBe(false);
  expect(record.isHeld).toBe(false);
});

test('the end of a call removes its record', async () => {
  const { store, key, record } = await recorded();
  expect(record.isHeld).toBe(true);
  await record.end();
  expect(await store.get(key)).toBeUndefined();
  expect(await store.size(QUEUE)).toBe(0);
  expect(record.confirm()).toBe(true);
  expect(record.isHeld).toBe(false);
});
