import { expect, onTestFinished, test } from 'vitest';
import type { StreamingCall } from '../../../../../src/legacy/server/shared/call-record.js';
import { CallWatch } from '../../../../../src/legacy/server/shared/call-watch.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import type { Store } from '../../../../../src/state/store.js';
import { until } from '../../../../support/until.js';

const running: StreamingCall = { stream: 's.p1', ids: [1], isBatch: false, revision: '2025-11-25' };

test('a process that claims its own call ends first what it did about the call', async () => {
  const inner = memoryStore();
  // The process cannot renew its leases, and does not learn that either.
  const store: Store = { ...methodsOf(inner), renew: () => new Promise(() => undefined) };
  const events: string[] = [];
  const watch = new CallWatch({
    ...{ store, server: 'test', isShared: true, askMs: 60_000, leaseMs: 300, warn: () => undefined },
    onDead: async () => void events.push('taken up'),
    onExpired: async () => undefined,
  });
  onTestFinished(() => watch.close());
  const record = await watch.begin('tag', running, { lost: () => events.push('ended') });
  watch.start();
  await until('the call is taken up', () => events.includes('taken up'));
  expect(events).toEqual(['ended', 'taken up']);
  expect(record?.isLost).toBe(true);
});

test('a process that learns of its lease after another one has claimed the call does not think that it has it', async () => {
  const inner = memoryStore();
  const QUEUE = 'call:test';
  const store: Store = {
    ...methodsOf(inner),
    // As if the process were paused before it has the reply.
    write: async (changes, options) => {
      const written = await inner.write(changes, options);
      const claim = { owner: 'another', limit: 1, ms: 60_000 };
      await until('another process has the call', async () => (await inner.claim(QUEUE, claim)).length > 0);
      return written;
    },
  };
  const watch = new CallWatch({
    ...{ store, server: 'test', isShared: true, askMs: 60_000, leaseMs: 100, warn: () => undefined },
    onDead: async () => undefined,
    onExpired: async () => undefined,
  });
  onTestFinished(() => watch.close());
  const record = await watch.begin('tag', running, { lost: () => undefined });
  expect(await record?.confirm()).toBe(false);
});

function methodsOf(store: Store): Store {
  return {
    get: (...args) => store.get(...args),
    page: (...args) => store.page(...args),
    items: (...args) => store.items(...args),
    write: (...args) => store.write(...args),
    claim: (...args) => store.claim(...args),
    renew: (...args) => store.renew(...args),
    size: (...args) => store.size(...args),
    close: () => store.close(),
  };
}
