import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from '../../../src/async/every.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // First the spies on the fake timers, which bring these back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('work that is repeated begins after the interval, and ends when it is stopped', () => {
  const work = vi.fn();
  const stop = every(100, work);
  expect(work).not.toHaveBeenCalled();
  vi.advanceTimersByTime(350);
  expect(work).toHaveBeenCalledTimes(3);
  stop();
  vi.advanceTimersByTime(1000);
  expect(work).toHaveBeenCalledTimes(3);
  expect(vi.getTimerCount()).toBe(0);
});

test('work that is repeated at an interval that no timer can wait for is not called again and again at once', () => {
  const work = vi.fn();
  const stops = [every(Number.POSITIVE_INFINITY, work), every(2 ** 31, work)];
  vi.advanceTimersByTime(60_000);
  expect(work).not.toHaveBeenCalled();
  for (const stop of stops) stop();
});

test('asynchronous work that is repeated never overlaps, however long one turn takes', async () => {
  const ends: (() => void)[] = [];
  const work = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const stop = every(100, work);
  await vi.advanceTimersByTimeAsync(1000);
  expect(work).toHaveBeenCalledTimes(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});

test('a failure of repeated work is reported, and the work is repeated', async () => {
  const failures: unknown[] = [];
  let turns = 0;
  const work = async (): Promise<void> => {
    throw new Error(`turn ${++turns}`);
  };
  const stop = every(100, work, { onError: (error) => failures.push((error as Error).message) });
  await vi.advanceTimersByTimeAsync(200);
  stop();
  expect(failures).toEqual(['turn 1', 'turn 2']);
});

test('the failure of a turn that was under way when the work was stopped is still reported', async () => {
  const failures: unknown[] = [];
  let fail!: (error: Error) => void;
  const work = (): Promise<never> =>
    new Promise((_, reject) => {
      fail = reject;
    });
  const stop = every(100, work, { onError: (error) => failures.push(error) });
  await vi.advanceTimersByTimeAsync(100);
  stop();
  fail(new Error('late'));
  await vi.advanceTimersByTimeAsync(0);
  expect(failures).toEqual([new Error('late')]);
});

test('the process may end while work is repeated, unless the caller says otherwise', () => {
  const timers = vi.spyOn(globalThis, 'setInterval');
  every(100, () => undefined);
  every(100, () => undefined, { unref: false });
  const refs = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef());
  expect(refs).toEqual([false, true]);
});

test('work is repeated where timers are plain numbers, as in browsers', () => {
  vi.spyOn(globalThis, 'setInterval').mockReturnValue(7 as never);
  const clear = vi.spyOn(globalThis, 'clearInterval').mockReturnValue(undefined);
  every(100, () => undefined)();
  expect(clear).toHaveBeenCalledWith(7);
});

test('work that is to begin at once is not called again while its first turn takes longer than the interval', async () => {
  let end!: () => void;
  const work = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const stop = every(100, work, { atOnce: true });
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(work).toHaveBeenCalledTimes(1);
  end();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});
