import fc from 'fast-check';
import { eventLogContract } from 'fullmcp/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EventLog, LoggedEvent } from '../../../../src/state/event-log.js';
import { memoryEventLog } from '../../../../src/state/memory/event-log.js';
import { until } from '../../../support/until.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('memoryEventLog', () => {
  for (const { name, run } of eventLogContract({ open: () => memoryEventLog() })) test(name, run);
});

/** The events that are stored after another one; undefined if the stream is unknown. */
async function storedAfter(
  log: EventLog,
  id: string,
): Promise<{ gap: boolean; texts: string[]; ids: string[] } | undefined> {
  const controller = new AbortController();
  const followed = await log.follow(id, controller.signal);
  if (followed === undefined) return undefined;
  const events: LoggedEvent[] = [];
  const reader = followed.events[Symbol.asyncIterator]();
  for (;;) {
    // A reader that has nothing to read waits. It takes only promises to read what is stored.
    const next = await Promise.race([
      reader.next(),
      new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
    ]);
    if (next === undefined || next.done) break;
    events.push(next.value);
  }
  controller.abort();
  return { gap: followed.gap, texts: events.map(({ data }) => data), ids: events.map((event) => event.id) };
}

const texts = async (log: EventLog, id: string): Promise<string[] | undefined> =>
  (await storedAfter(log, id))?.texts;

describe('the event log in memory', () => {
  test('keeps the newest events of a stream, up to its limit, and reports the gap', async () => {
    const log = memoryEventLog({ maxEventsPerStream: 3 });
    const first = await log.append('one', '0');
    for (let at = 1; at <= 10; at++) await log.append('one', `${at}`);
    expect(await storedAfter(log, first)).toMatchObject({ gap: true, texts: ['8', '9', '10'] });
  });

  test('that is full drops the stream that was idle for longest', async () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const quiet = await log.append('s.quiet', 'x'.repeat(3000));
    const busy = await log.append('s.busy', 'x'.repeat(3000));
    await log.append('s.busy', 'y');
    const last = await log.append('s.last', 'x'.repeat(4000));
    expect(await storedAfter(log, quiet)).toBeUndefined();
    expect(await texts(log, busy)).toEqual(['y']);
    expect(await storedAfter(log, last)).toBeDefined();
  });

  test('that a noisy session fills drops the events of that session, however many streams it has', async () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const quiet = await log.append('quiet.p1', '');
    await log.append('quiet.p1', 'the result'.repeat(500));
    for (let at = 0; at < 1000; at++) await log.append(`noisy.p${at % 7}`, 'x'.repeat(1000));
    expect(await storedAfter(log, quiet)).toMatchObject({ gap: false, texts: ['the result'.repeat(500)] });
  });

  test('keeps the events of a small session next to many noisy ones', async () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const quiet = await log.append('quiet.p1', '');
    await log.append('quiet.p1', 'the result');
    for (let at = 0; at < 1000; at++) await log.append(`noisy${at % 20}.p`, 'x'.repeat(2000));
    expect(await texts(log, quiet)).toEqual(['the result']);
  });

  test('rejects an event that would fill more than half of it, and keeps the others', async () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const quiet = await log.append('quiet.p1', 'a');
    await log.append('quiet.p1', 'b');
    await expect(log.append('huge.p1', 'x'.repeat(6000))).rejects.toThrow(RangeError);
    await expect(log.append('quiet.p1', 'x'.repeat(6000))).rejects.toThrow('half of maxBytes');
    await log.append('quiet.p1', 'c');
    expect(await storedAfter(log, quiet)).toMatchObject({ gap: false, texts: ['b', 'c'] });
  });

  test('that a single stream fills drops its oldest events', async () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const first = await log.append('one', 'x'.repeat(4000));
    for (const letter of ['a', 'b', 'c', 'd']) await log.append('one', letter.repeat(4000));
    expect((await texts(log, first))?.map((data) => data[0])).toEqual(['c', 'd']);
  });

  test('counts events without data as well', async () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const first = await log.append('stream 0', '');
    for (let at = 1; at < 10_000; at++) await log.append(`stream ${at}`, '');
    expect(await storedAfter(log, first)).toBeUndefined();
  });

  test('has room again after a stream is dropped', async () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const id = await log.append('lasting', 'x'.repeat(1000));
    for (let at = 0; at < 100; at++) {
      await log.append('passing', 'x'.repeat(4700));
      await log.drop('passing');
    }
    expect(await storedAfter(log, id)).toBeDefined();
  });

  test('keeps the newest events of a stream up to maxBytesPerStream, and always the last one', async () => {
    const log = memoryEventLog({ maxBytesPerStream: 3000 });
    const first = await log.append('one', 'a'.repeat(1000));
    await log.append('one', 'b'.repeat(1000));
    await log.append('one', 'c'.repeat(1000));
    expect((await texts(log, first))?.map((data) => data[0])).toEqual(['b', 'c']);
    const large = await log.append('one', 'd'.repeat(5000));
    expect((await texts(log, first))?.map((data) => data[0])).toEqual(['d']);
    expect(await texts(log, large)).toEqual([]);
  });

  test('rejects an event beyond maxEventBytes', async () => {
    const log = memoryEventLog({ maxEventBytes: 1000 });
    await expect(log.append('one', 'x'.repeat(1001))).rejects.toThrow(RangeError);
    await log.append('one', 'x'.repeat(1000));
  });

  test('forgets a stream after maxAgeMs, to the millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const log = memoryEventLog({ maxAgeMs: 1000 });
    const id = await log.append('one', 'a');
    vi.setSystemTime(1000);
    expect(await storedAfter(log, id)).toBeDefined();
    vi.setSystemTime(1001);
    expect(await storedAfter(log, id)).toBeUndefined();
  });

  test('counts the age of a stream from its last event', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const log = memoryEventLog({ maxAgeMs: 1000 });
    const id = await log.append('one', 'a');
    vi.setSystemTime(900);
    await log.append('one', 'b');
    vi.setSystemTime(1800);
    expect(await texts(log, id)).toEqual(['b']);
  });

  test('does not forget a stream that somebody reads, however quiet it is', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const log = memoryEventLog({ maxAgeMs: 1000 });
    const first = await log.append('one', 'a');
    const unread = await log.append('two', 'a');
    const received: string[] = [];
    const followed = await log.follow(first, new AbortController().signal);
    const reading = (async () => {
      for await (const { data } of followed?.events ?? []) received.push(data);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    vi.setSystemTime(5000);
    await log.append('other', 'x');
    expect(await storedAfter(log, unread)).toBeUndefined();
    expect(await storedAfter(log, first)).toBeDefined();
    await log.append('one', 'b', { last: true });
    await reading;
    expect(received).toEqual(['b']);
  });

  test('gives every event an id of its own, even after older events are gone', async () => {
    const log = memoryEventLog({ maxEventsPerStream: 1 });
    const ids: string[] = [];
    for (let at = 0; at < 50; at++) ids.push(await log.append('one', `${at}`));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^one-[\x21-\x7e]+$/);
    expect(await storedAfter(log, String(ids[48]))).toEqual({ gap: false, texts: ['49'], ids: [ids[49]] });
    expect(await texts(log, String(ids[49]))).toEqual([]);
  });

  test('distinguishes names that differ only by a possible separator', async () => {
    const log = memoryEventLog();
    const names = ['s', 's-0', 's-0-0', '-', 's.', 'S'];
    const ids: string[] = [];
    for (const stream of names) ids.push(await log.append(stream, `first of ${stream}`));
    for (const stream of names) await log.append(stream, `second of ${stream}`);
    for (const [at, stream] of names.entries())
      expect(await texts(log, String(ids[at]))).toEqual([`second of ${stream}`]);
  });

  test.each(['', '-', 'one', 'one-', 'one-!', 'one-zz-', 'one-9', 'two-0', '__proto__-0', 'constructor-0'])(
    'does not know the id %j',
    async (id) => {
      const log = memoryEventLog();
      await log.append('one', 'a');
      expect(await storedAfter(log, id)).toBeUndefined();
    },
  );

  test('reports a gap for a stream that lost its events, and returns the later ones', async () => {
    const log = memoryEventLog({ maxBytes: 5000 });
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await log.append('a.one', 'early'));
    for (let at = 0; at < 5; at++) await log.append('a.noise', 'x'.repeat(2000));
    expect(await storedAfter(log, String(ids[4]))).toBeUndefined();
    await log.append('a.one', 'late');
    expect(await storedAfter(log, String(ids[4]))).toMatchObject({ texts: ['late'], gap: true });
  });

  test('keeps nothing for readers that have ended', async () => {
    const log = memoryEventLog();
    const first = await log.append('one', '0');
    const received: string[] = [];
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    const reading = controllers.map(async ({ signal }) => {
      const followed = await log.follow(first, signal);
      for await (const { data } of followed?.events ?? []) received.push(data);
    });
    await log.append('one', '1');
    await until('all have read', () => received.length === 100);
    for (const controller of controllers) controller.abort();
    await Promise.all(reading);
    await log.append('one', '2');
    expect(received).toHaveLength(100);
  });

  test('gives a reader nothing after the last event, even if more is appended', async () => {
    const log = memoryEventLog();
    const first = await log.append('one', 'begin');
    const last = await log.append('one', 'end', { last: true });
    await log.append('one', 'late', { last: true });
    expect(await texts(log, first)).toEqual(['end']);
    expect(await texts(log, last)).toEqual([]);
  });

  test('stays within its limits and in order, whatever is appended', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a.1', 'a.2', 'b', 'c.3'), fc.nat(3000)), { maxLength: 60 }),
        async (appends) => {
          const log = memoryEventLog({ maxBytes: 5000, maxEventsPerStream: 5 });
          const first = new Map<string, string>();
          for (const [at, [stream, length]] of appends.entries()) {
            const id = await log.append(stream, `${at}:${'x'.repeat(length)}`).catch(() => undefined);
            if (id !== undefined && !first.has(stream)) first.set(stream, id);
          }
          let total = 0;
          for (const id of first.values()) {
            const stored = (await texts(log, id)) ?? [];
            const numbers = stored.map((data) => Number(data.split(':')[0]));
            expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
            expect(stored.length).toBeLessThanOrEqual(5);
            total += stored.reduce((sum, data) => sum + data.length, 0);
          }
          expect(total).toBeLessThanOrEqual(5000);
        },
      ),
    );
  });
});
