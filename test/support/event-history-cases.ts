// The cases that the log of events has to pass on every engine.

import { expect } from 'vitest';
import { type EventHistory, eventHistory } from '../../src/extensions/events/log/event-history.js';
import type { LogPosition } from '../../src/extensions/events/log/positions.js';
import type { NewEvent, StoredEvent } from '../../src/extensions/events/log/stored-event.js';
import type { Store } from '../../src/state/store.js';
import { until } from './until.js';

interface Subject {
  readonly store: Store;
  /** The same store, as another process has it open. */
  readonly other: Store;
}

const DAY = 86_400_000;

/** Opens the log of a type. Each test has a type of its own. */
export function openHistory(
  store: Store,
  name: string,
  retentionMs: number = DAY,
  server = 'shop',
  maxUnits?: number,
): Promise<EventHistory> {
  return eventHistory(store, { server, name }, { retentionMs, maxUnits });
}

/** Makes an event with a number in it. */
export function numbered(n: number, more: object = {}): NewEvent {
  return { eventId: `e${n}`, timestamp: '2026-11-18T12:00:00.000Z', data: { n, ...more } };
}

/** Reads everything after a position through cursors, in pages. */
export async function drain(
  log: EventHistory,
  from: LogPosition,
  limit = 50,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  let position = from;
  for (;;) {
    const page = await log.read(position, limit);
    expect(page.isTruncated).toBe(false);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    position = log.positionOf(log.cursorOf(page.next)) as LogPosition;
    if (!page.hasMore) return events;
  }
}

function idsOf(events: readonly { readonly eventId: string }[]): readonly string[] {
  return events.map(({ eventId }) => eventId);
}

const range = (length: number): readonly number[] => Array.from({ length }, (_, n) => n);
const fresh = (): string => crypto.randomUUID();

/** The cases, by what must be true. */
export const eventHistoryCases: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  async 'Events are read in order, with all that they have, by another process'({ store, other }) {
    const name = fresh();
    const [log, reader] = [await openHistory(store, name), await openHistory(other, name)];
    const start = await reader.tail();
    const odd = { ['__proto__']: 1, text: 'é\u2028😀\u0000', deep: { list: [null, true, 1.5] } };
    const event = { ...numbered(1, JSON.parse(JSON.stringify(odd)) as object), _meta: { 'a/b': 1 } };
    expect(await log.append([event, numbered(2)])).toEqual([
      { eventId: 'e1', isNew: true },
      { eventId: 'e2', isNew: true },
    ]);
    const { events, hasMore, isTruncated, next } = await reader.read(start, 10);
    expect({ ids: idsOf(events), hasMore, isTruncated }).toEqual({
      ids: ['e1', 'e2'],
      hasMore: false,
      isTruncated: false,
    });
    expect(events[0]).toMatchObject({ timestamp: event.timestamp, data: event.data, _meta: { 'a/b': 1 } });
    expect(await reader.tail()).toEqual(next);
    expect(await log.read(next, 10)).toMatchObject({ events: [], hasMore: false, isTruncated: false });
    expect(reader.compare(start, next)).toBeLessThan(0);
  },

  async 'An id is told once, whoever appends it again'({ store, other }) {
    const name = fresh();
    const logs = [await openHistory(store, name), await openHistory(other, name)] as const;
    const start = await logs[0].tail();
    const again = range(20).map((n) => numbered(n % 7));
    const results = await Promise.all([...logs, ...logs].map((log) => log.append(again)));
    const isNew = results.flat().filter((each) => each.isNew);
    expect(idsOf(isNew).toSorted()).toEqual(range(7).map((n) => `e${n}`));
    expect(idsOf(await drain(logs[1], start)).toSorted()).toEqual(range(7).map((n) => `e${n}`));
    expect(await logs[1].append([numbered(3), numbered(8)])).toEqual([
      { eventId: 'e3', isNew: false },
      { eventId: 'e8', isNew: true },
    ]);
  },

  async 'Two processes that append at the same time lose nothing, and readers see one order'({
    store,
    other,
  }) {
    const name = fresh();
    const logs = [await openHistory(store, name), await openHistory(other, name)] as const;
    const start = await logs[0].tail();
    let isDone = false;
    const follow = async (log: EventHistory, limit: number): Promise<readonly string[]> => {
      const seen: string[] = [];
      let position = start;
      for (;;) {
        const wasDone = isDone;
        const page = await log.read(position, limit);
        expect(page.isTruncated).toBe(false);
        seen.push(...idsOf(page.events));
        position = page.next;
        if (wasDone && page.events.length === 0) return seen;
        // LMDB reads in the same turn of the event loop, and the writers need one of their own.
        await new Promise(setImmediate);
      }
    };
    const readers = [follow(logs[0], 7), follow(logs[1], 300)];
    const write = async (log: EventHistory, from: number): Promise<void> => {
      for (let n = from; n < 1300; n += 26)
        await log.append(range(13).map((offset) => numbered(n + offset * 2)));
    };
    await Promise.all([write(logs[0], 0), write(logs[1], 1)]);
    isDone = true;
    const [first = [], second = []] = await Promise.all(readers);
    expect(first).toEqual(second);
    expect(first.toSorted()).toEqual(
      range(1300)
        .map((n) => `e${n}`)
        .toSorted(),
    );
    for (const parity of [0, 1]) {
      const own = first.map((id) => Number(id.slice(1))).filter((n) => n % 2 === parity);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  },

  async 'Large events fill a segment sooner, and none is lost'({ store, other }) {
    const name = fresh();
    const log = await openHistory(store, name);
    const start = await log.tail();
    const text = 'x'.repeat(100_000);
    await log.append(range(25).map((n) => numbered(n, { text })));
    const reader = await openHistory(other, name);
    expect(idsOf(await drain(reader, start, 4))).toEqual(range(25).map((n) => `e${n}`));
    expect((await reader.tail()).segment).toBeGreaterThan(start.segment + 1);
  },

  async 'A cursor of another type, or one that nobody made, has no position'({ store }) {
    const [log, foreign] = [await openHistory(store, fresh()), await openHistory(store, fresh())];
    const cursor = log.cursorOf(await log.tail());
    expect(log.positionOf(cursor)).toEqual(await log.tail());
    expect(foreign.positionOf(cursor)).toBeUndefined();
    for (const wrong of ['', 'x', `${cursor}.1`, cursor.toUpperCase(), cursor.replace(/[^.]*$/, '')])
      expect(log.positionOf(wrong)).toBeUndefined();
    const invented = { segment: (await log.tail()).segment + 5, at: 3, used: 3 };
    const page = await log.read(invented, 10);
    expect(page).toEqual({ events: [], next: await log.tail(), hasMore: false, isTruncated: true });
  },

  async 'Changes that belong to an event are made with it, and not with one that is known'({ store }) {
    const log = await openHistory(store, fresh());
    const queue = `fanout:${fresh()}`;
    const also = [{ do: 'enqueue', queue, key: log.group } as const];
    await log.append([numbered(1)], also);
    expect(await store.size(queue)).toBe(1);
    await store.write([{ do: 'dequeue', queue, key: log.group }]);
    await log.append([numbered(1)], also);
    expect(await store.size(queue)).toBe(0);
    await log.append([numbered(1), numbered(2)], also);
    expect(await store.size(queue)).toBe(1);
  },

  async 'A write whose result is lost is made once when it is repeated'({ store, other }) {
    const name = fresh();
    let losses = 0;
    const unreliable: Store = {
      ...store,
      async write(changes, options) {
        const written = await store.write(changes, options);
        if (losses++ % 2 === 0) throw new Error('The reply was lost');
        return written;
      },
      get: (key) => store.get(key),
      items: (list, options) => store.items(list, options),
    };
    const [log, reader] = [await openHistory(unreliable, name), await openHistory(other, name)];
    const start = await reader.tail();
    const append = async (event: NewEvent): Promise<void> => {
      for (;;) {
        const isAppended = await log.append([event]).then(
          () => true,
          () => false,
        );
        if (isAppended) return;
      }
    };
    for (const n of range(30)) await append(numbered(n));
    expect(idsOf(await drain(reader, start))).toEqual(range(30).map((n) => `e${n}`));
    expect(losses).toBeGreaterThan(30);
  },

  async 'A reader learns that events expired before it read them, and one that had read them does not'({
    store,
    other,
  }) {
    const name = fresh();
    const log = await openHistory(store, name, 200);
    const start = await log.tail();
    await log.append([numbered(1), numbered(2)]);
    const end = await log.tail();
    const reader = await openHistory(other, name, 200);
    await until(
      'the events have expired',
      async () => (await (await openHistory(other, name, 200)).read(start, 9)).isTruncated,
    );
    expect(await reader.read(end, 10)).toEqual({ events: [], next: end, hasMore: false, isTruncated: false });
    expect(await reader.tail()).toMatchObject({ segment: end.segment, used: end.used });
    const { next: healed } = await reader.read(start, 10);
    expect(await reader.read(healed, 10)).toMatchObject({ isTruncated: false });
    await log.append([numbered(3)]);
    for (const position of [end, healed]) {
      const page = await reader.read(position, 10);
      expect({ ids: idsOf(page.events), isTruncated: page.isTruncated }).toEqual({
        ids: ['e3'],
        isTruncated: false,
      });
    }
    const late = await reader.read(start, 10);
    expect({ ids: idsOf(late.events), isTruncated: late.isTruncated }).toEqual({
      ids: ['e3'],
      isTruncated: true,
    });
  },

  async 'A reader that was away for several segments continues with the oldest event that is left'({
    store,
  }) {
    const name = fresh();
    const log = await openHistory(store, name, 400);
    const start = await log.tail();
    await log.append(range(2100).map((n) => numbered(n)));
    expect((await log.tail()).segment).toBeGreaterThanOrEqual(start.segment + 4);
    await until('the first events have expired', async () => {
      const page = await (await openHistory(store, name, 400)).read(start, 1);
      return page.isTruncated;
    });
    await log.append([numbered(9999)]);
    const reader = await openHistory(store, name, 400);
    const page = await reader.read(start, 5000);
    expect(page.isTruncated).toBe(true);
    expect(page.events.at(-1)?.eventId).toBe('e9999');
    expect(await reader.read(page.next, 10)).toMatchObject({ events: [], isTruncated: false });
  },

  async 'A log with a limit keeps the newest events, whoever appends them, and forgets no id'({
    store,
    other,
  }) {
    const name = fresh();
    const limited = (one: Store) => openHistory(one, name, DAY, 'shop', 2000);
    const logs = [await limited(store), await limited(other)] as const;
    const start = await logs[0].tail();
    const write = async (log: EventHistory, from: number): Promise<void> => {
      for (let n = from; n < 6000; n += 200) await log.append(range(100).map((each) => numbered(n + each)));
    };
    await Promise.all([write(logs[0], 0), write(logs[1], 100)]);
    const reader = await limited(other);
    const { events, isTruncated } = await reader.read(start, 10_000);
    expect(isTruncated).toBe(true);
    expect(events.length).toBeGreaterThan(1000);
    expect(events.length).toBeLessThanOrEqual(2000);
    expect(new Set(idsOf(events)).size).toBe(events.length);
    expect((await reader.read(await reader.tail(), 10)).isTruncated).toBe(false);
    expect(await logs[0].append([numbered(0)])).toEqual([{ eventId: 'e0', isNew: false }]);
    const last = await logs[1].append([numbered(6001)]);
    expect(last).toEqual([{ eventId: 'e6001', isNew: true }]);
    expect(idsOf((await (await limited(store)).read(start, 10_000)).events).at(-1)).toBe('e6001');
  },

  async 'A log begun without a limit has one from then on'({ store }) {
    const name = fresh();
    const free = await openHistory(store, name);
    const start = await free.tail();
    await free.append(range(3000).map((n) => numbered(n)));
    const limited = await openHistory(store, name, DAY, 'shop', 1000);
    await limited.append(range(3000).map((n) => numbered(3000 + n)));
    const { events } = await (await openHistory(store, name)).read(start, 10_000);
    expect(events.at(-1)?.eventId).toBe('e5999');
    expect(idsOf(events)).not.toContain('e3000');
  },

  async 'A log that is begun by many at once is one log'({ store, other }) {
    const name = fresh();
    const logs = await Promise.all(range(8).map((n) => openHistory(n % 2 ? store : other, name)));
    const tails = await Promise.all(logs.map((log) => log.tail()));
    expect(new Set(tails.map(({ segment }) => segment)).size).toBe(1);
    await Promise.all(logs.map((log, n) => log.append([numbered(n)])));
    expect((await drain(logs[0] as EventHistory, tails[0] as LogPosition)).length).toBe(8);
  },
};
