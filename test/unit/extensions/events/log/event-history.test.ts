import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EventHistory } from '../../../../../src/extensions/events/log/event-history.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import { drain, eventHistoryCases, numbered, openHistory } from '../../../../support/event-history-cases.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('The log of events in memory', () => {
  for (const [name, run] of Object.entries(eventHistoryCases))
    test(name, async () => {
      const store = memoryStore();
      await run({ store, other: store });
    });

  test('Ten thousand events are polled through cursors: none lost, none twice, in order', async () => {
    const log = await openHistory(memoryStore({ callerShare: 1 }), 'many');
    const start = await log.tail();
    const ids = Array.from({ length: 10_000 }, (_, n) => `e${n}`);
    for (let n = 0; n < 10_000; n += 250)
      await log.append(Array.from({ length: 250 }, (_, each) => numbered(n + each)));
    expect((await drain(log, start, 33)).map(({ eventId }) => eventId)).toEqual(ids);
  });

  test('A store that is full loses the oldest events, and their readers are told', async () => {
    const log = await openHistory(memoryStore({ maxEntries: 10_000 }), 'many');
    const start = await log.tail();
    await appendMany(log, 5000);
    const page = await log.read(start, 10_000);
    expect(page.isTruncated).toBe(true);
    expect(page.events.at(-1)?.eventId).toBe('e4999');
    expect(page.events.length).toBeGreaterThanOrEqual(500);
    const numbers = page.events.map(({ data }) => data['n'] as number);
    expect(numbers).toEqual(numbers.map((_, at) => 5000 - numbers.length + at));
  });

  test('A store that is full of other things rejects an event', async () => {
    const store = memoryStore({ maxEntries: 4, kindShare: 1, callerShare: 1 });
    const log = await openHistory(store, 'few');
    await log.tail();
    await store.write([{ do: 'put', key: 'other:x', value: {} }]);
    await expect(log.append([numbered(1)])).rejects.toThrow('The store is full');
  });

  test('A clock that jumps a day in either direction changes neither the order nor what is read', async () => {
    const store = memoryStore();
    const log = await openHistory(store, 'jumps');
    const start = await log.tail();
    const now = Date.now();
    for (const [n, days] of [0, 1, -1, 30, -365].entries()) {
      vi.spyOn(Date, 'now').mockReturnValue(now + days * 86_400_000);
      await (await openHistory(store, 'jumps')).append([numbered(n)]);
    }
    const reader = await openHistory(store, 'jumps');
    expect((await drain(reader, start)).map(({ eventId }) => eventId)).toEqual([
      'e0',
      'e1',
      'e2',
      'e3',
      'e4',
    ]);
  });

  test('Readers that wait at the same time share what they read, and each sees what was appended before it asked', async () => {
    const store = memoryStore();
    let reads = 0;
    const counted = {
      ...store,
      items: (...args: Parameters<typeof store.items>) => {
        reads++;
        return store.items(...args);
      },
    };
    const log = await openHistory(counted, 'shared');
    const start = await log.tail();
    await log.append([numbered(1)]);
    reads = 0;
    const pages = await Promise.all(Array.from({ length: 500 }, () => log.read(start, 10)));
    for (const { events } of pages) expect(events.length).toBe(1);
    expect(reads).toBeLessThanOrEqual(4);
    const early = log.read(start, 10);
    await log.append([numbered(2)]);
    expect((await log.read(start, 10)).events.length).toBe(2);
    await early;
  });
});

async function appendMany(log: EventHistory, count: number): Promise<void> {
  for (let n = 0; n < count; n += 100)
    await log.append(Array.from({ length: 100 }, (_, each) => numbered(n + each)));
}
