import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../../../src/state/memory/store.js';
import { storeLimitsContract } from '../store-limits.js';

storeLimitsContract('in memory', memoryStore);

describe('the store in memory', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('has one timer while entries can expire, and none after they have or after it is closed', async () => {
    vi.useFakeTimers();
    const store = memoryStore();
    const set = (name: string, ttlMs?: number) =>
      store.write([{ do: 'put', key: `x:${name}`, value: {}, ...(ttlMs !== undefined && { ttlMs }) }]);
    await set('forever');
    expect(vi.getTimerCount()).toBe(0);
    await set('a', 5000);
    await set('b', 2000);
    await set('c', 90 * 24 * 3_600_000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(5001);
    // The timer of an entry that was deleted early stays until it fires, and then finds nothing.
    await store.write([{ do: 'delete', key: 'x:c' }]);
    await vi.advanceTimersByTimeAsync(0x7fffffff);
    expect(vi.getTimerCount()).toBe(0);
    await set('a', 5000);
    await store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
