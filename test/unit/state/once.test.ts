import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../../src/state/memory/store.js';
import { Once } from '../../../src/state/once.js';
import type { Lease, Store } from '../../../src/state/store.js';

const QUEUE = 'refreshing';
const LEASE_MS = 10_000;
const TOKEN = 'token:user';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A process that refreshes the token of a user, which is in the store. */
class Process {
  readonly store: Store;
  readonly once: Once;
  /** The times at which it began to refresh. */
  readonly begun: number[] = [];

  constructor(store: Store, waitMs = 60_000) {
    this.store = store;
    this.once = new Once({ store, queue: QUEUE, leaseMs: LEASE_MS, waitMs });
  }

  refresh(work: (lease: Lease) => Promise<string> = (lease) => this.save(lease, 'new')): Promise<unknown> {
    return this.once.run({
      key: 'user',
      find: async () => (await this.store.get(TOKEN))?.value['token'] as string | undefined,
      work: (lease) => {
        this.begun.push(performance.now());
        return work(lease);
      },
    });
  }

  /** Stores a token under the lease. */
  async save(guard: Lease, token: string): Promise<string> {
    const { ok } = await this.store.write([{ do: 'put', key: TOKEN, value: { token } }], { guard });
    return ok ? token : 'too late';
  }
}

/** Waits for promises while the clock runs. */
async function run<T>(...promises: Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  const settled = Promise.allSettled(promises);
  await vi.advanceTimersByTimeAsync(120_000);
  return settled;
}

function processes(count: number, store = memoryStore()): Process[] {
  return Array.from({ length: count }, () => new Process(store));
}

const forever = (): Promise<never> => new Promise(() => undefined);

describe('Once', () => {
  it('one of many processes does the work, and all of them get the result', async () => {
    const all = processes(8);
    const ends = await run(...all.map((each) => each.refresh()));
    expect(ends).toEqual(all.map(() => ({ status: 'fulfilled', value: 'new' })));
    expect(all.flatMap(({ begun }) => begun)).toHaveLength(1);
    expect(await all[0]?.store.size(QUEUE)).toBe(0);
  });

  it('another process does the work when the one that began it has died', async () => {
    const [dead, other] = processes(2) as [Process, Process];
    const startedAt = performance.now();
    void dead.refresh(forever);
    const [end] = await run(other.refresh());
    expect(end).toEqual({ status: 'fulfilled', value: 'new' });
    expect((other.begun[0] as number) - startedAt).toBeGreaterThanOrEqual(LEASE_MS);
    expect(await other.store.size(QUEUE)).toBe(0);
  });

  it('the late write of a process that was slower than its lease is refused', async () => {
    const [slow, other] = processes(2) as [Process, Process];
    let proceed!: () => void;
    const paused = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const late = slow.refresh(async (lease) => {
      await paused;
      return slow.save(lease, 'old');
    });
    await run(other.refresh());
    proceed();
    expect(await late).toBe('too late');
    expect((await slow.store.get(TOKEN))?.value).toEqual({ token: 'new' });
    expect(await slow.store.size(QUEUE)).toBe(0);
  });

  it('a process that was slower than its lease does not end the lease of the one that has taken over', async () => {
    const [slow, other, third] = processes(3) as [Process, Process, Process];
    let fail!: (error: Error) => void;
    const failing = slow.refresh(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    );
    failing.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    void other.refresh(forever);
    await vi.advanceTimersByTimeAsync(LEASE_MS + 1000);
    expect(other.begun).toHaveLength(1);
    fail(new Error('The provider does not answer.'));
    await expect(failing).rejects.toThrow('The provider does not answer.');
    void third.refresh();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
    expect(third.begun).toEqual([]);
  });

  it('a failure belongs to the process that met it, and the others try one after the other, more and more seldom', async () => {
    const all = processes(6);
    const attempts: number[] = [];
    let open = 0;
    let most = 0;
    const failing = async (): Promise<never> => {
      attempts.push(performance.now());
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
      throw new Error('The provider does not answer.');
    };
    const ends = await run(...all.map((each) => each.refresh(failing)));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(attempts).toHaveLength(6);
    expect(most).toBe(1);
    // The least that each pause can be: half of 250 ms, 500 ms, and so on.
    const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] as number));
    for (const [index, ms] of pauses.entries()) expect(ms).toBeGreaterThanOrEqual(125 * 2 ** index);
  });

  it('work that has failed is done again by another process, as the next attempt', async () => {
    const [one, other] = processes(2) as [Process, Process];
    await run(one.refresh(() => Promise.reject(new Error('The provider does not answer.'))));
    const leases: Lease[] = [];
    const [end] = await run(
      other.refresh((lease) => {
        leases.push(lease);
        return other.save(lease, 'new');
      }),
    );
    expect(end).toEqual({ status: 'fulfilled', value: 'new' });
    expect(leases.map(({ attempt }) => attempt)).toEqual([2]);
    expect(await other.store.size(QUEUE)).toBe(0);
  });

  it('failed work that nobody needs again does not stay in the queue', async () => {
    const store = memoryStore();
    const once = new Once({ store, queue: QUEUE, leaseMs: LEASE_MS, waitMs: 1000 });
    const fail = (): Promise<never> => Promise.reject(new Error('The provider does not answer.'));
    for (let user = 0; user < 20; user++)
      await run(once.run({ key: `user-${user}`, find: async () => undefined, work: fail }));
    expect(await store.size(QUEUE)).toBe(1);
  });

  it('a process gives up when another one works for too long, and does nothing itself', async () => {
    const store = memoryStore();
    const busy = new Process(store);
    const impatient = new Process(store, LEASE_MS / 2);
    void busy.refresh(forever);
    const [end] = await run(impatient.refresh());
    expect(end).toEqual({ status: 'fulfilled', value: undefined });
    expect(impatient.begun).toEqual([]);
  });

  it.each([
    ['was not made', false, 0],
    ['was made, but not confirmed', true, LEASE_MS],
  ])(
    'a process reports a store that fails, and does the work when it is back, if the write %s',
    async (_, isMade, atLeast) => {
      const inner = memoryStore();
      let isFailing = true;
      const store: Store = {
        ...inner,
        async write(...args) {
          if (isFailing && !isMade) throw new Error('The store is down.');
          const written = await inner.write(...args);
          if (isFailing) throw new Error('The store is down.');
          return written;
        },
      };
      const process = new Process(store);
      await expect(process.refresh()).rejects.toThrow('The store is down.');
      isFailing = false;
      const startedAt = performance.now();
      expect(await run(process.refresh())).toEqual([{ status: 'fulfilled', value: 'new' }]);
      expect((process.begun[0] as number) - startedAt).toBeGreaterThanOrEqual(atLeast);
    },
  );

  it('a result is kept although the store fails when the lease is given back', async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      write: (changes, options) =>
        changes.some((change) => change.do === 'dequeue')
          ? Promise.reject(new Error('The store is down.'))
          : inner.write(changes, options),
    };
    expect(await run(new Process(store).refresh())).toEqual([{ status: 'fulfilled', value: 'new' }]);
  });

  it('a clock that jumps does not end a lease', async () => {
    const [one, other] = processes(2) as [Process, Process];
    void one.refresh(forever);
    const waiting = other.refresh();
    await vi.advanceTimersByTimeAsync(1000);
    vi.setSystemTime(Date.now() + 86_400_000);
    await vi.advanceTimersByTimeAsync(1000);
    vi.setSystemTime(Date.now() - 2 * 86_400_000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(other.begun).toEqual([]);
    expect(await run(waiting)).toEqual([{ status: 'fulfilled', value: 'new' }]);
  });
});
