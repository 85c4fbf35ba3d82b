import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryStore } from 'fullmcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryLimiter } from '../../../../src/middleware/rate-limit/limiter.js';
import { type Rate, readRate } from '../../../../src/middleware/rate-limit/rate.js';
import { sharedLimiter } from '../../../../src/middleware/rate-limit/shared-limiter.js';
import type { Store } from '../../../../src/state/store.js';

const read = (rate: Rate) => readRate(rate, 'rate');

describe('a rate', () => {
  it.each([
    ['100/min', 600],
    ['5/s', 200],
    ['1000/h', 3600],
    ['24/day', 3_600_000],
    ['2/minute', 30_000],
  ])('%s is one call every %d ms', (rate, everyMs) => {
    expect(read(rate).everyMs).toBe(everyMs);
  });

  it('has a burst of its own', () => {
    expect(read({ limit: 10, perMs: 1000, burst: 3 })).toMatchObject({ everyMs: 100, toleranceMs: 200 });
  });

  it.each<unknown>([
    '',
    '100',
    '100/week',
    '0/s',
    '-1/s',
    '1.5/s',
    '1e3/s',
    '5 / s',
    '5/constructor',
    `${'9'.repeat(400)}/s`,
    undefined,
    null,
    7,
    { limit: 0, perMs: 1000 },
    { limit: 1, perMs: 0 },
    { limit: 1, perMs: Number.NaN },
    { limit: 1, perMs: 1000, burst: 0.5 },
  ])('%j is none', (rate) => {
    expect(() => read((rate ?? {}) as Rate)).toThrow('must be a rate such as "100/min"');
  });
});

describe('a limiter in memory', () => {
  it('admits the limit at once, then one call whenever one has grown back', () => {
    let now = 0;
    const limiter = memoryLimiter({ maxKeys: 10, now: () => now });
    const rate = read('3/s');
    const take = () => limiter.take('a', rate);
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    expect(take()).toBeCloseTo(1000 / 3);
    now += 300;
    expect(take()).toBeCloseTo(1000 / 3 - 300);
    now += 34;
    expect(take()).toBe(0);
    expect(take()).toBeGreaterThan(0);
    expect(limiter.take('b', rate)).toBe(0);
  });

  it('admits a call exactly when it said, and no sooner', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomOf(seed);
      let now = random() * 1e6;
      const limiter = memoryLimiter({ maxKeys: 10, now: () => now });
      const rate = read({ limit: 1 + Math.floor(random() * 20), perMs: 1 + random() * 5000 });
      for (let n = 0; n < 60; n++) {
        now += random() < 0.5 ? 0 : random() * rate.everyMs * 2;
        const waitMs = limiter.take('a', rate) as number;
        if (waitMs <= 1e-6) continue;
        const at = now;
        now = at + waitMs * 0.999;
        expect(limiter.take('a', rate)).toBeGreaterThan(0);
        now = at + waitMs + 1e-6;
        expect(limiter.take('a', rate)).toBe(0);
      }
    }
  });

  it('never admits more in any time than the burst and what has grown back', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const random = randomOf(seed);
      let now = 0;
      const limiter = memoryLimiter({ maxKeys: 10, now: () => now });
      const parts = {
        limit: 1 + Math.floor(random() * 10),
        perMs: 1000,
        burst: 1 + Math.floor(random() * 10),
      };
      const rate = read(parts);
      const admitted: number[] = [];
      for (let n = 0; n < 300; n++) {
        now += random() * 100;
        if (limiter.take('a', rate) === 0) admitted.push(now);
      }
      const most = (from: number, to: number): number =>
        parts.burst + ((admitted[to] as number) - (admitted[from] as number)) / rate.everyMs + 1e-6;
      const tooMany = admitted.flatMap((_, from) =>
        admitted.flatMap((__, to) =>
          to >= from && to - from + 1 > most(from, to) ? [{ seed, from, to }] : [],
        ),
      );
      expect(tooMany).toEqual([]);
    }
  });

  it('keeps at most maxKeys, and forgets those first that are no longer ahead of the rate', () => {
    let now = 0;
    const limiter = memoryLimiter({ maxKeys: 3, now: () => now });
    const rate = read('1/s');
    for (const key of ['a', 'b', 'c']) limiter.take(key, rate);
    now = 500;
    expect(limiter.take('d', rate)).toBe(0);
    // "a" was forgotten for "d"; "b" and "c" are known.
    expect(limiter.take('b', rate)).toBe(500);
    expect(limiter.take('c', rate)).toBe(500);
    now = 1000;
    expect(limiter.take('a', rate)).toBe(0);
    expect(limiter.take('d', rate)).toBe(500);
  });
});

describe('a limiter of several processes', () => {
  it('admits the limit once, however many callers come at the same time', async () => {
    const store = slow(memoryStore());
    const processes = [sharedLimiter(store), sharedLimiter(store), sharedLimiter(store)];
    const rate = read('50/h');
    const waits = await Promise.all(
      Array.from({ length: 200 }, (_, n) => processes[n % 3]?.take('rate:key', rate)),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(50);
    const refused = waits.filter((wait): wait is number => wait !== 0 && wait !== undefined);
    expect(refused).toHaveLength(150);
    for (const wait of refused) {
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(rate.everyMs + 1);
    }
  });

  it('counts the calls that wait with one write', async () => {
    const { counting, writes } = countWrites();
    const limiter = sharedLimiter(slow(counting));
    const waits = await Promise.all(
      Array.from({ length: 100 }, () => limiter.take('rate:key', read('1000/h'))),
    );
    expect(waits.every((wait) => wait === 0)).toBe(true);
    expect(writes()).toBe(2);
  });

  it('does not write if the call is one too many', async () => {
    const { counting, writes } = countWrites();
    const limiter = sharedLimiter(counting);
    const rate = read('1/h');
    expect(await limiter.take('rate:key', rate)).toBe(0);
    expect(await limiter.take('rate:key', rate)).toBeGreaterThan(0);
    expect(writes()).toBe(1);
  });

  it('admits calls at the whole rate, although each write is later than its read', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const inner = memoryStore();
    const late: Store = {
      ...inner,
      async write(...changes) {
        vi.advanceTimersByTime(30);
        return inner.write(...changes);
      },
    };
    const limiter = sharedLimiter(late);
    const rate = read({ limit: 10, perMs: 1000, burst: 2 });
    let count = 0;
    const from = performance.now();
    while (performance.now() - from < 9000) {
      const waitMs = await limiter.take('rate:key', rate);
      if (waitMs === 0) count++;
      else vi.advanceTimersByTime(waitMs);
    }
    // The burst, and one call every 100 ms; only the first write sets the expiry anew.
    expect(count).toBeGreaterThanOrEqual(90);
    expect(count).toBeLessThanOrEqual(92);
  });

  it('refuses a call that others are always faster than, instead of counting it nowhere', async () => {
    const inner = memoryStore();
    let attempts = 0;
    const crowded: Store = {
      ...inner,
      async write(...changes) {
        attempts++;
        await inner.write([{ do: 'put', key: 'rate:key', value: {}, ttlMs: 60_000 }]);
        return inner.write(...changes);
      },
    };
    expect(await sharedLimiter(crowded).take('rate:key', read('1000/h'))).toBeGreaterThan(0);
    expect(attempts).toBeGreaterThan(1);
  });

  it('fails if the store does, and works again with it', async () => {
    const inner = memoryStore();
    let isAway = true;
    const limiter = sharedLimiter({
      ...inner,
      get: (key) => (isAway ? Promise.reject(new Error('away')) : inner.get(key)),
    });
    await expect(limiter.take('rate:key', read('1/h'))).rejects.toThrow('away');
    isAway = false;
    expect(await limiter.take('rate:key', read('1/h'))).toBe(0);
  });
});

function countWrites(): { readonly counting: Store; readonly writes: () => number } {
  const inner = memoryStore();
  let writes = 0;
  const write: Store['write'] = (...changes) => {
    writes++;
    return inner.write(...changes);
  };
  return { counting: { ...inner, write }, writes: () => writes };
}

/** A store that answers in another turn, so that the reads and writes of processes interleave. */
function slow(store: Store): Store {
  return {
    ...store,
    async get(key) {
      await nextTurn();
      return store.get(key);
    },
    async write(...changes) {
      await nextTurn();
      return store.write(...changes);
    },
  };
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
