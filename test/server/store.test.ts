import { memoryStore } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { storeContract } from '../contracts/store.js';

storeContract('in memory', () => memoryStore());

describe('the store in memory', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('says when it has too many entries, and keeps those it has', async () => {
    const store = memoryStore({ maxEntries: 2 });
    await store.set('a', { n: 1 });
    await store.set('b', { n: 1 });
    const full = 'The store is full: it has 2 entries';
    await expect(store.set('c', { n: 1 })).rejects.toThrow(full);
    await expect(store.add('c', { n: 1 })).rejects.toThrow(full);
    await store.set('a', { n: 2 });
    expect(await store.get('a')).toEqual({ n: 2 });
    await store.delete('b');
    await store.set('c', { n: 1 });
  });

  it('says when it has too many bytes, and keeps what was there', async () => {
    const store = memoryStore({ maxBytes: 100 });
    await store.set('a', { text: 'x'.repeat(50) });
    const full = 'The store is full: it may have 100 bytes';
    await expect(store.set('b', { text: 'x'.repeat(50) })).rejects.toThrow(full);
    await expect(store.set('a', { text: 'x'.repeat(100) })).rejects.toThrow(full);
    expect(await store.get('a')).toEqual({ text: 'x'.repeat(50) });
    // What is overwritten or deleted makes room.
    for (let round = 0; round < 5; round++) await store.set('a', { text: 'y'.repeat(80) });
    await store.delete('a');
    await store.delete('a');
    await store.set('b', { text: 'x'.repeat(80) });
    await expect(store.set('c', { text: '' })).rejects.toThrow(full);
  });

  it('makes room by what has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const store = memoryStore({ maxEntries: 2 });
    await store.set('a', { n: 1 }, Date.now() + 1000);
    await store.set('b', { n: 1 }, Date.now() + 1000);
    await expect(store.set('c', { n: 1 })).rejects.toThrow('full');
    vi.setSystemTime(Date.now() + 1001);
    await store.set('c', { n: 1 });
    await store.set('d', { n: 1 });
  });

  it('drops what has expired without being asked, and leaves no timer behind', async () => {
    vi.useFakeTimers();
    const store = memoryStore();
    await store.set('forever', { n: 1 });
    expect(vi.getTimerCount()).toBe(0);
    await store.set('a', { n: 1 }, Date.now() + 5000);
    await store.set('b', { n: 1 }, Date.now() + 2000);
    await store.set('c', { n: 1 }, Date.now() + 90 * 24 * 3_600_000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(5001);
    // Deleting it before it expires takes the timer away only when that fires: it then finds nothing.
    await store.delete('c');
    await vi.advanceTimersByTimeAsync(0x7fffffff);
    expect(vi.getTimerCount()).toBe(0);
    await store.set('a', { n: 1 }, Date.now() + 5000);
    await store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
