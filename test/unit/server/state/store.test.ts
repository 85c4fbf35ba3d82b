import { memoryStore } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { storeContract } from '../../../contracts/store.js';
import { storeLimitsContract } from '../../../contracts/store-limits.js';

storeContract('in memory', () => memoryStore());
storeLimitsContract('in memory', memoryStore);

describe('the store in memory', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('has one timer while entries can expire, and none after they have or after it is closed', async () => {
    vi.useFakeTimers();
    const store = memoryStore();
    await store.set('forever', { n: 1 });
    expect(vi.getTimerCount()).toBe(0);
    await store.set('a', { n: 1 }, Date.now() + 5000);
    await store.set('b', { n: 1 }, Date.now() + 2000);
    await store.set('c', { n: 1 }, Date.now() + 90 * 24 * 3_600_000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(5001);
    // The timer of an entry that was deleted early stays until it fires, and then finds nothing.
    await store.delete('c');
    await vi.advanceTimersByTimeAsync(0x7fffffff);
    expect(vi.getTimerCount()).toBe(0);
    await store.set('a', { n: 1 }, Date.now() + 5000);
    await store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
