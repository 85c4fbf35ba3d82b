import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryEventLog } from '../../../../../src/legacy/server/http/event-log.js';
import { eventLogContract } from '../../../../contracts/event-log.js';

afterEach(() => {
  vi.useRealTimers();
});

eventLogContract('memory', () => memoryEventLog());

describe('the event log in memory', () => {
  test('keeps the newest events of a stream, up to its limit, and reports the gap', () => {
    const log = memoryEventLog({ maxEventsPerStream: 3 });
    const first = log.append('one', '0');
    for (let at = 1; at <= 10; at++) log.append('one', `${at}`);
    expect(log.after(first)?.events.map(({ data }) => data)).toEqual(['8', '9', '10']);
    expect(log.after(first)?.gap).toBe(true);
  });

  test('that is full drops the stream that was idle for longest', () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const quiet = log.append('s.quiet', 'x'.repeat(3000));
    const busy = log.append('s.busy', 'x'.repeat(3000));
    log.append('s.busy', 'y');
    const last = log.append('s.last', 'x'.repeat(4000));
    expect(log.after(quiet)).toBeUndefined();
    expect(log.after(busy)?.events.map(({ data }) => data)).toEqual(['y']);
    expect(log.after(last)).toBeDefined();
  });

  test('that a noisy session fills drops the events of that session, however many streams it has', () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const quiet = log.append('quiet.p1', '');
    log.append('quiet.p1', 'the result'.repeat(500));
    for (let at = 0; at < 1000; at++) log.append(`noisy.p${at % 7}`, 'x'.repeat(1000));
    const replay = log.after(quiet);
    expect(replay?.gap).toBe(false);
    expect(replay?.events.map(({ data }) => data)).toEqual(['the result'.repeat(500)]);
  });

  test('keeps the events of a small session next to many noisy ones', () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const quiet = log.append('quiet.p1', '');
    log.append('quiet.p1', 'the result');
    for (let at = 0; at < 1000; at++) log.append(`noisy${at % 20}.p`, 'x'.repeat(2000));
    expect(log.after(quiet)?.events.map(({ data }) => data)).toEqual(['the result']);
  });

  test('does not keep an event that would fill more than half of it, and reports a gap', () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const quiet = log.append('quiet.p1', 'a');
    log.append('quiet.p1', 'b');
    const before = log.append('huge.p1', 'small');
    const huge = log.append('huge.p1', 'x'.repeat(6000));
    expect(log.after(before)).toMatchObject({ events: [], gap: true });
    expect(log.after(huge)).toMatchObject({ events: [], gap: false });
    expect(log.after(quiet)?.events).toHaveLength(1);
  });

  test('that a single stream fills drops its oldest events', () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const first = log.append('one', 'x'.repeat(4000));
    for (const letter of ['a', 'b', 'c', 'd']) log.append('one', letter.repeat(4000));
    expect(log.after(first)?.events.map(({ data }) => data[0])).toEqual(['c', 'd']);
  });

  test('counts events without data as well', () => {
    const log = memoryEventLog({ maxBytes: 100_000 });
    const first = log.append('stream 0', '');
    for (let at = 1; at < 10_000; at++) log.append(`stream ${at}`, '');
    expect(log.after(first)).toBeUndefined();
  });

  test('has room again after a stream is dropped', () => {
    const log = memoryEventLog({ maxBytes: 10_000 });
    const id = log.append('lasting', 'x'.repeat(1000));
    for (let at = 0; at < 100; at++) {
      log.append('passing', 'x'.repeat(6000));
      log.drop('passing');
    }
    expect(log.after(id)).toBeDefined();
  });

  test('forgets a stream after maxAgeMs, to the millisecond', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const log = memoryEventLog({ maxAgeMs: 1000 });
    const id = log.append('one', 'a');
    vi.setSystemTime(1000);
    expect(log.after(id)).toBeDefined();
    vi.setSystemTime(1001);
    expect(log.after(id)).toBeUndefined();
  });

  test('counts the age of a stream from its last event', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const log = memoryEventLog({ maxAgeMs: 1000 });
    const id = log.append('one', 'a');
    vi.setSystemTime(900);
    log.append('one', 'b');
    vi.setSystemTime(1800);
    expect(log.after(id)?.events.map(({ data }) => data)).toEqual(['b']);
  });

  test('gives every event an id of its own, even after older events are gone', () => {
    const log = memoryEventLog({ maxEventsPerStream: 1 });
    const ids = Array.from({ length: 50 }, (_, at) => log.append('one', `${at}`));
    expect(new Set(ids).size).toBe(50);
    expect(log.after(String(ids[48]))?.events).toEqual([{ id: ids[49], data: '49' }]);
    expect(log.after(String(ids[49]))?.events).toEqual([]);
  });

  test('reports a gap for a stream that lost its events, and returns the later ones', () => {
    const log = memoryEventLog({ maxBytes: 5000 });
    const ids = Array.from({ length: 5 }, () => log.append('a.one', 'early'));
    for (let at = 0; at < 5; at++) log.append('a.noise', 'x'.repeat(2000));
    expect(log.after(String(ids[4]))).toBeUndefined();
    log.append('a.one', 'late');
    expect(log.after(String(ids[4]))).toMatchObject({ events: [{ data: 'late' }], gap: true });
  });

  test('stays within its limits and in order, whatever is appended', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a.1', 'a.2', 'b', 'c.3'), fc.nat(3000)), { maxLength: 60 }),
        (appends) => {
          const log = memoryEventLog({ maxBytes: 5000, maxEventsPerStream: 5 });
          const first = new Map<string, string>();
          for (const [at, [stream, length]] of appends.entries()) {
            const id = log.append(stream, `${at}:${'x'.repeat(length)}`);
            if (!first.has(stream)) first.set(stream, id);
          }
          let total = 0;
          for (const id of first.values()) {
            const events = log.after(id)?.events ?? [];
            const numbers = events.map(({ data }) => Number(data.split(':')[0]));
            expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
            expect(events.length).toBeLessThanOrEqual(5);
            total += events.reduce((sum, { data }) => sum + data.length, 0);
          }
          expect(total).toBeLessThanOrEqual(5000);
        },
      ),
    );
  });
});
