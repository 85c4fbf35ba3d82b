import { type EventSchedule, type EventType, event, memoryStore, type Store } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Emitter } from '../../../../../../src/extensions/events/emitter.js';
import { Histories } from '../../../../../../src/extensions/events/histories.js';
import { Schedules } from '../../../../../../src/extensions/events/sources/schedules/schedules.js';
import { readServerAccess } from '../../../../../../src/server/access/access.js';
import { compileEvent } from '../../../../../../src/server/catalog/events.js';
import type { EventPluginParts } from '../../../../../../src/server/handle/event-host.js';
import type { Lease } from '../../../../../../src/state/store.js';
import { until } from '../../../../../support/until.js';

// Schedules as one process tells them, with a clock that the test sets, and two servers that share one.

const START = Date.parse('2026-11-19T10:00:30Z');
const MINUTE = 60_000;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }));
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

const time = (at: number): string => new Date(at).toISOString().slice(11, 19);

interface Told {
  readonly eventId: string;
  readonly at: string;
  readonly n: unknown;
}

/** A process with a schedule. */
async function processOf(schedule: Partial<EventSchedule>, store: Store = memoryStore()) {
  const logged: string[] = [];
  const log = (_: string, message: string) => void logged.push(message);
  let n = 0;
  const definition = event({
    payload: { type: 'object', required: ['n'] },
    schedule: { every: '1m', run: () => ({ n: n++ }), ...schedule },
  } as never) as unknown as EventType;
  const type = compileEvent('told', definition, { access: readServerAccess(undefined, log as never) });
  const histories = new Histories({ store, server: 'desk', retention: { forMs: 86_400_000 } });
  const parts = {
    ...{ server: 'desk', store, log, news: { publish: () => undefined }, relay: () => [] },
    events: new Map([['told', type]]),
  } as unknown as EventPluginParts;
  const emitter = new Emitter(parts, histories, {
    also: async () => [],
    keep: () => Promise.reject(new Error()),
  });
  const schedules = new Schedules({ ...parts, histories, read: (...one) => emitter.read(...one) });
  const [key] = (await schedules.keys()) as readonly [string];
  const history = await histories.of('told');
  const start = await history.tail();
  let lease: Lease | undefined;
  const claim = async (): Promise<Lease> => {
    await store.write([{ do: 'enqueue', queue: 'work:x', key }]);
    const [claimed] = await store.claim('work:x', { owner: 'a', limit: 1, ms: 60_000 });
    return claimed as Lease;
  };
  return {
    logged,
    key,
    /** Looks at the schedule. Returns the time until it wants to be looked at again. */
    async look(signal: AbortSignal = new AbortController().signal): Promise<number> {
      lease ??= await claim();
      const tell = await schedules.find(key);
      return (await tell?.(lease, signal)) as number;
    },
    async told(): Promise<readonly Told[]> {
      const { events } = await history.read(start, 1000);
      return events.map(({ eventId, timestamp, data }) => ({
        eventId,
        at: timestamp.slice(11, 19),
        n: data['n'],
      }));
    },
  };
}

const times = (told: readonly Told[]): readonly string[] => told.map(({ at }) => at);

describe('A schedule', () => {
  test('begins with the next moment, and tells each once, with the moment before it', async () => {
    const seen: unknown[] = [];
    const one = await processOf({
      run: ({ at, previous }) => void seen.push([time(+at), previous && time(+previous)]),
    });
    expect(await one.look()).toBe(30_000);
    vi.setSystemTime(START + MINUTE);
    expect(await one.look()).toBe(30_000);
    expect(await one.look()).toBe(30_000);
    vi.setSystemTime(START + 2 * MINUTE);
    await one.look();
    expect(seen).toEqual([
      ['10:01:00', undefined],
      ['10:02:00', '10:01:00'],
    ]);
    expect(await one.told()).toEqual([]);
  });

  test('gives its events ids that follow from the moment, and the time of the moment', async () => {
    const one = await processOf({ run: () => [{ n: 1 }, { n: 2 }] });
    await one.look();
    vi.setSystemTime(START + MINUTE);
    await one.look();
    const told = await one.told();
    expect(told).toMatchObject([
      { at: '10:01:00', n: 1 },
      { at: '10:01:00', n: 2 },
    ]);
    const moment = Date.parse('2026-11-19T10:01:00Z');
    expect(told[0]?.eventId).toMatch(new RegExp(`^tick_[\\w-]{10}_${moment}$`));
    expect(told[1]?.eventId).toBe(`${told[0]?.eventId}_1`);
  });

  test.each([
    ['last', ['10:10:00']],
    ['none', []],
    [
      'all',
      [
        '10:01:00',
        '10:02:00',
        '10:03:00',
        '10:04:00',
        '10:05:00',
        '10:06:00',
        '10:07:00',
        '10:08:00',
        '10:09:00',
        '10:10:00',
      ],
    ],
  ] as const)('with the rule "%s" tells what was missed by that rule', async (catchUp, expected) => {
    const one = await processOf({ catchUp, cron: '*/1 10 * * *', every: undefined as never });
    await one.look();
    vi.setSystemTime(Date.parse('2026-11-19T10:10:00Z') + (catchUp === 'none' ? 60_001 : 0));
    if (catchUp === 'none') vi.setSystemTime(Date.parse('2026-11-19T11:30:00Z'));
    await one.look();
    expect(times(await one.told())).toEqual(expected);
    expect(one.logged).toHaveLength(catchUp === 'none' ? 1 : 0);
    await one.look();
    expect(times(await one.told())).toEqual(expected);
    expect(one.logged).toHaveLength(catchUp === 'none' ? 1 : 0);
  });

  test('with the rule "none" tells a moment that is less than a minute ago', async () => {
    const one = await processOf({ catchUp: 'none', every: '10m' });
    await one.look();
    vi.setSystemTime(Date.parse('2026-11-19T10:20:59Z'));
    await one.look();
    expect(times(await one.told())).toEqual(['10:20:00']);
  });

  test('catches up with at most 100 moments, the newest, and logs that there were more', async () => {
    const one = await processOf({ catchUp: 'all' });
    await one.look();
    vi.setSystemTime(START + 250 * MINUTE);
    await one.look();
    const told = times(await one.told());
    expect(told).toHaveLength(100);
    expect([told[0], told.at(-1)]).toEqual(['12:31:00', '14:10:00']);
    expect(one.logged).toEqual([expect.stringMatching(/were missed, and are left out/)]);
  });

  test('goes on when the clock is set back, and tells no moment under a second id', async () => {
    const one = await processOf({});
    await one.look();
    vi.setSystemTime(START + 60 * MINUTE);
    await one.look();
    expect(times(await one.told())).toEqual(['11:00:00']);
    vi.setSystemTime(START + 58 * MINUTE);
    await one.look();
    expect(times(await one.told())).toEqual(['11:00:00']);
    expect(one.logged).toEqual([]);
    vi.setSystemTime(START + 30 * MINUTE);
    await one.look();
    expect(one.logged).toEqual([
      expect.stringMatching(/told up to 2026-11-19T11:00:00.000Z, which is not yet/),
    ]);
    for (let minute = 31; minute <= 62; minute++) {
      vi.setSystemTime(START + minute * MINUTE);
      await one.look();
    }
    const told = await one.told();
    expect(times(told).filter((at) => at === '11:00:00')).toHaveLength(1);
    expect([...times(told)].sort()).toEqual(
      Array.from({ length: 32 }, (_, n) => time(START - 30_000 + (31 + n) * MINUTE)),
    );
    expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(32);
  });

  test('that jumps ahead by a year tells by its rule, and is not silent for a year after the jump back', async () => {
    const one = await processOf({});
    await one.look();
    vi.setSystemTime(START + 365 * 1440 * MINUTE);
    await one.look();
    vi.setSystemTime(START + 2 * MINUTE);
    await one.look();
    vi.setSystemTime(START + 3 * MINUTE);
    await one.look();
    expect(times(await one.told())).toEqual(['10:00:00', '10:03:00']);
  });

  test('that throws is tried again for the same moment, with the same id, and tells the log which one it is', async () => {
    let failures = 2;
    const one = await processOf({
      run: () => {
        if (failures-- > 0) throw new Error('upstream');
        return { n: 1 };
      },
    });
    await one.look();
    vi.setSystemTime(START + MINUTE);
    for (let times = 0; times < 2; times++)
      await expect(one.look()).rejects.toThrow(
        /schedule of the events "told" failed for 2026-11-19T10:01:00/,
      );
    await one.look();
    expect(times(await one.told())).toEqual(['10:01:00']);
  });

  test.each([
    ['data that does not fit', () => ({ x: 1 }), /does not fit its payload/],
    ['something else than data', () => 'text', /must be an object/],
    ['too many events', () => Array.from({ length: 101 }, () => ({ n: 1 })), /returned 101 events/],
    [
      'too much',
      () => Array.from({ length: 6 }, () => ({ n: 'x'.repeat(200_000) })),
      /At most 100 with 1 MB/,
    ],
  ])('that returns %s tells nothing', async (_, run, message) => {
    const one = await processOf({ run: run as never });
    await one.look();
    vi.setSystemTime(START + MINUTE);
    await expect(one.look()).rejects.toThrow(message);
    expect(await one.told()).toEqual([]);
  });

  test('whose function ignores its signal is left at the shutdown, and tells nothing', async () => {
    let signal: AbortSignal | undefined;
    const one = await processOf({
      run: (tick) => {
        signal = tick.signal;
        return new Promise(() => undefined);
      },
    });
    await one.look();
    vi.setSystemTime(START + MINUTE);
    const controller = new AbortController();
    const looking = one.look(controller.signal);
    await until('the function runs', () => signal !== undefined);
    controller.abort(new Error('The server is shutting down'));
    await expect(looking).rejects.toThrow(/failed for/);
    expect(signal?.aborted).toBe(true);
    expect(await one.told()).toEqual([]);
  });

  test('that another process has told in the meantime is told once, under one id', async () => {
    const store = memoryStore();
    let release: (() => void) | undefined;
    const slow = await processOf(
      {
        run: () =>
          new Promise((resolve) => {
            release = () => resolve({ n: 'late' });
          }),
      },
      store,
    );
    await slow.look();
    vi.setSystemTime(START + MINUTE);
    const looking = slow.look();
    await until('the function runs', () => release !== undefined);
    // The process was paused so long that another one has its lease.
    const other = await processOf({ run: () => ({ n: 'in time' }) }, store);
    await store.write([{ do: 'dequeue', queue: 'work:x', key: slow.key }]);
    await other.look();
    release?.();
    // It has lost the lease, and leaves the schedule to the other process.
    expect(await looking).toBe(0);
    expect((await slow.told()).map(({ n }) => n)).toEqual(['in time']);
  });
});
