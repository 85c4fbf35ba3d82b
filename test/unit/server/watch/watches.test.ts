import { afterEach, describe, expect, it, vi } from 'vitest';
import type { memoryStore } from '../../../../src/state/memory/store.js';
import { until } from '../../../support/until.js';
import { type Recorder, recorder, startProcess } from './processes.js';

const unused = new Proxy(
  {},
  {
    get: () => () => {
      throw new Error('A server with one process must not use its store for subscriptions.');
    },
  },
) as ReturnType<typeof memoryStore>;

function alone(record: Recorder) {
  return startProcess('A', record, { store: unused });
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the watch of a resource in a server with one process', () => {
  it('starts with the first subscriber and stops after the last', async () => {
    const record = recorder();
    const process = alone(record);
    const [first, second] = [process.subscribe('x://1'), process.subscribe('x://1')];
    await until('the watch starts', () => record.events.length === 1);
    first();
    const third = process.subscribe('x://1');
    second();
    third();
    await until('the watch stops', () => record.events.length === 2);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
    process.subscribe('x://1');
    await until('the watch starts again', () => record.events.length === 3);
    await process.close();
    expect(record.events.slice(2)).toEqual(['A starts x://1', 'A stops x://1']);
  });

  it('is neither stopped nor started again for subscribers that leave and return', async () => {
    vi.useFakeTimers();
    const record = recorder();
    const process = alone(record);
    let leave = process.subscribe('x://1');
    for (let at = 0; at < 20; at++) {
      await vi.advanceTimersByTimeAsync(at * 50);
      leave();
      await vi.advanceTimersByTimeAsync(900);
      leave = process.subscribe('x://1');
    }
    expect(record.events).toEqual(['A starts x://1']);
    leave();
    await vi.advanceTimersByTimeAsync(1000);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
  });

  it('waits for a start that is under way before it stops', async () => {
    const record = recorder();
    let finish: (() => void) | undefined;
    record.onSubscribe = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    vi.useFakeTimers();
    const process = alone(record);
    const leave = process.subscribe('x://1');
    await vi.advanceTimersByTimeAsync(0);
    leave();
    await vi.advanceTimersByTimeAsync(5000);
    expect(record.events).toEqual([]);
    finish?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
  });

  it('is started again with growing delays if the hook fails, which new subscribers do not shorten', async () => {
    vi.useFakeTimers();
    const record = recorder();
    const attempts: number[] = [];
    const aborted: boolean[] = [];
    record.onSubscribe = (_, __, signal) => {
      attempts.push(Date.now());
      signal.addEventListener('abort', () => aborted.push(true));
      if (attempts.length < 5) throw new Error('upstream is away');
    };
    const process = alone(record);
    process.subscribe('x://1');
    for (let at = 0; at < 200; at++) {
      await vi.advanceTimersByTimeAsync(100);
      process.subscribe('x://1')();
    }
    expect(attempts).toHaveLength(5);
    const waits = attempts.slice(1).map((time, at) => time - (attempts[at] ?? 0));
    for (const [at, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(500 * 2 ** at);
    expect(aborted).toHaveLength(4);
    // The first, the second and the fourth failure.
    expect(record.messages).toHaveLength(3);
    expect(record.messages[0]).toBe('"onSubscribe" of the resource "x://1" failed. It is tried again.');
    expect(record.events).toEqual(['A starts x://1']);
  });

  it('gives up on a hook that hangs, and does not call onUnsubscribe for a start that never succeeded', async () => {
    vi.useFakeTimers();
    const record = recorder();
    let reason: unknown;
    record.onSubscribe = (_, __, signal) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
      });
      return new Promise(() => undefined);
    };
    const leave = alone(record).subscribe('x://1');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(reason).toMatchObject({ name: 'TimeoutError' });
    expect(record.messages).toHaveLength(1);
    leave();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(record.events).toEqual([]);
    expect(record.messages).toHaveLength(1);
  });

  it('logs an error of onUnsubscribe, and starts again for the next subscriber', async () => {
    const record = recorder();
    record.onUnsubscribe = () => Promise.reject(new Error('upstream is away'));
    const process = alone(record);
    process.subscribe('x://1')();
    await until('the watch stops', () => record.events.includes('A stops x://1'));
    process.subscribe('x://1');
    await until('the watch starts again', () => record.events.length === 3);
    expect(record.messages).toEqual(['"onUnsubscribe" of the resource "x://1" failed.']);
  });

  it('aborts the signal of onSubscribe before it calls onUnsubscribe', async () => {
    const record = recorder();
    let signal: AbortSignal | undefined;
    const seen: unknown[] = [];
    record.onSubscribe = (_, __, own) => {
      signal = own;
    };
    record.onUnsubscribe = (_, __, own) => seen.push(signal?.aborted, own.aborted);
    const process = alone(record);
    process.subscribe('x://1');
    await until('the watch starts', () => record.events.length === 1);
    expect(signal?.aborted).toBe(false);
    await process.close();
    expect(seen).toEqual([true, false]);
  });

  it('ends with the server, even while a start hangs, and starts nothing afterwards', async () => {
    const record = recorder();
    record.onSubscribe = (_, uri) => (uri === 'x://2' ? new Promise(() => undefined) : undefined);
    const process = alone(record);
    const leave = process.subscribe('x://1');
    process.subscribe('x://2');
    await until('the first watch starts', () => record.events.length === 1);
    await process.close();
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
    leave();
    process.subscribe('x://3');
    await new Promise(setImmediate);
    expect(record.events).toHaveLength(2);
    expect(record.messages).toEqual([]);
  });

  it('is closed once, and every shutdown waits for it', async () => {
    const record = recorder();
    let finish: () => void = () => undefined;
    record.onUnsubscribe = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    const process = alone(record);
    process.subscribe('x://1');
    await until('the watch starts', () => record.events.length === 1);
    const ended: number[] = [];
    void process.close().then(() => ended.push(1));
    const second = process.close().then(() => ended.push(2));
    await until('the watch stops', () => record.events.length === 2);
    await new Promise(setImmediate);
    expect(ended).toEqual([]);
    finish();
    await second;
    expect(ended).toEqual([1, 2]);
  });

  it('is one of 10,000, of which 256 start at the same time', async () => {
    const record = recorder();
    let running = 0;
    let most = 0;
    record.onSubscribe = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
    };
    const process = alone(record);
    for (let at = 0; at < 10_000; at++) process.subscribe(`x://${at}`);
    await until('all watches start', () => record.events.length === 10_000);
    expect(most).toBe(256);
    await process.close();
    expect(record.events).toHaveLength(20_000);
    expect([...record.watching.values()].every(({ size }) => size === 0)).toBe(true);
  });
});
