import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LeaseKeeper, type LeaseKeeperOptions } from '../../../src/state/lease-keeper.js';
import type { Lease } from '../../../src/state/store.js';

const LEASE_MS = 900;
const lease = (token: number): Lease => ({ queue: 'q', key: `g:${token}`, token, attempt: 1 });

/** A store whose answers are chosen by the test. */
class Renewals {
  readonly requests: number[][] = [];
  lost = new Set<number>();
  failing = false;
  hold: Promise<void> | undefined;

  renew = async (leases: readonly Lease[]): Promise<readonly Lease[]> => {
    this.requests.push(leases.map(({ token }) => token));
    await this.hold;
    if (this.failing) throw new Error('away');
    return leases.filter(({ token }) => !this.lost.has(token));
  };
}

describe('A LeaseKeeper', () => {
  let store: Renewals;
  const lost: number[] = [];
  const failures: unknown[] = [];
  const keeperOf = (options: Partial<LeaseKeeperOptions> = {}): LeaseKeeper =>
    new LeaseKeeper(store, {
      leaseMs: LEASE_MS,
      onFailure: (error) => failures.push(error),
      ...options,
    });
  const keep = (keeper: LeaseKeeper, token: number): (() => void) =>
    keeper.keep(lease(token), () => lost.push(token), performance.now());

  beforeEach(() => {
    vi.useFakeTimers();
    store = new Renewals();
    lost.length = 0;
    failures.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('renews all leases together, three times in the time of a lease, until they are dropped', async () => {
    const keeper = keeperOf();
    const stop = keep(keeper, 1);
    keep(keeper, 2);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(store.requests).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    stop();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(store.requests.at(-1)).toEqual([2]);
    keeper.drop(lease(2));
    expect(vi.getTimerCount()).toBe(0);
    keep(keeper, 3);
    keeper.close();
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(store.requests).toHaveLength(4);
  });

  test('reports a lease once that another process has claimed', async () => {
    const keeper = keeperOf();
    keep(keeper, 1);
    keep(keeper, 2);
    store.lost.add(1);
    await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
    expect(lost).toEqual([1]);
    expect(keeper.has(lease(1))).toBe(false);
    expect(keeper.isValid(lease(2))).toBe(true);
  });

  test('does not report a lease that was given back while it was being renewed', async () => {
    const keeper = keeperOf();
    const stop = keep(keeper, 1);
    let answer = (): void => undefined;
    store.hold = new Promise((resolve) => {
      answer = resolve;
    });
    store.lost.add(1);
    const renewed = keeper.renew();
    stop();
    answer();
    await renewed;
    expect(lost).toEqual([]);
  });

  test('loses leases that could not be renewed in their time, and reports the first failure of several', async () => {
    store.failing = true;
    const keeper = keeperOf();
    keep(keeper, 1);
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(lost).toEqual([1]);
    expect(failures).toHaveLength(1);
  });

  test('keeps doubtful leases until the store says that they are lost, if it is told to', async () => {
    store.failing = true;
    let renewals = 0;
    const keeper = keeperOf({ keepsDoubtful: true, onRenewed: () => renewals++ });
    keep(keeper, 1);
    keep(keeper, 2);
    await vi.advanceTimersByTimeAsync(3 * LEASE_MS);
    expect(lost).toEqual([]);
    expect([keeper.has(lease(1)), keeper.isValid(lease(1)), keeper.hasDoubt]).toEqual([true, false, true]);
    const confirmed = Promise.all([keeper.confirm(lease(1)), keeper.confirm(lease(2))]);
    store.failing = false;
    store.lost.add(2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await confirmed).toEqual([true, false]);
    expect(lost).toEqual([2]);
    expect(keeper.hasDoubt).toBe(false);
    expect(renewals).toBeGreaterThan(0);
  });

  test('counts the time of a lease from its request', async () => {
    const keeper = keeperOf();
    keeper.keep(lease(1), () => undefined, performance.now() - LEASE_MS);
    expect(keeper.isValid(lease(1))).toBe(false);
    expect(await keeper.confirm(lease(1))).toBe(true);
    expect(keeper.isValid(lease(1))).toBe(true);
    expect(await keeper.confirm(lease(7))).toBe(false);
  });
});
