import { memoryStore, type Store } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ClaimedWork } from '../../../src/state/claimed-work.js';
import { Claims, type ClaimsParts } from '../../../src/state/claims.js';
import { LeaseKeeper } from '../../../src/state/lease-keeper.js';
import { signal } from '../../support/signal.js';
import { until } from '../../support/until.js';

const QUEUE = 'work';
const HOUR_MS = 3_600_000;

let store: Store;
let leases: LeaseKeeper;
const failures: unknown[] = [];

beforeEach(() => {
  store = memoryStore();
  leases = new LeaseKeeper(store, { onFailure: (error) => failures.push(error) });
  failures.length = 0;
});
afterEach(async () => {
  leases.close();
  await store.close?.();
});

const add = (key: string, inMs = 0): Promise<unknown> =>
  store.write([{ do: 'enqueue', queue: QUEUE, key, inMs }]);

describe('Claims', () => {
  const claimsOf = (parts: Partial<ClaimsParts>): Claims =>
    new Claims({
      ...{ store, leases, queue: QUEUE, owner: () => 'me', room: () => 8, take: () => undefined },
      // A test that waits for the next regular claim never ends.
      pauseMs: () => HOUR_MS,
      onFailure: (error) => failures.push(error),
      ...parts,
    });

  test('claim at the time of a wake, although another claim came before it', async () => {
    const taken = signal<string>();
    const claims = claimsOf({ take: ({ key }) => taken.give(key) });
    await claims.start();
    await add('g:later', 100);
    claims.wake(100);
    claims.wake();
    expect(await taken.promise).toBe('g:later');
    await claims.close();
  });

  test('claim when the work is due, and not before, as timers sometimes fire', async () => {
    let taken = signal<string>();
    const claims = claimsOf({ take: ({ key }) => taken.give(key) });
    await claims.start();
    for (let round = 0; round < 200; round++) {
      taken = signal();
      await add(`g:${round}`, 2);
      claims.wake(2);
      expect(await taken.promise).toBe(`g:${round}`);
    }
    await claims.close();
  });

  test('give back what a claim brings that was under way at the end, at once', async () => {
    await add('g:1');
    const asked = signal();
    const answer = signal();
    const slow: ClaimsParts['store'] = {
      write: (...args) => store.write(...args),
      async claim(...args) {
        asked.give();
        await answer.promise;
        return store.claim(...args);
      },
    };
    const take = vi.fn();
    const claims = claimsOf({ store: slow, take });
    void claims.start();
    await asked.promise;
    const closed = claims.close();
    answer.give();
    await closed;
    expect(take).not.toHaveBeenCalled();
    await expect
      .poll(() => store.claim(QUEUE, { owner: 'another', limit: 1, ms: 1000 }))
      .toMatchObject([{ key: 'g:1' }]);
  });

  test('claim as long as there is room and work, and then only when there is a reason', async () => {
    for (let at = 0; at < 5; at++) await add(`g:${at}`);
    const taken: string[] = [];
    const claim = vi.fn<Store['claim']>((...args) => store.claim(...args));
    const claims = claimsOf({
      store: { write: (...args) => store.write(...args), claim },
      room: () => 2,
      take: ({ key }) => taken.push(key),
    });
    await claims.start();
    expect(taken).toHaveLength(5);
    expect(claim).toHaveBeenCalledTimes(3);
    claims.onRoom();
    await claims.close();
    expect(claim).toHaveBeenCalledTimes(3);
  });

  test('claim when there is room, if there was none at first', async () => {
    await add('g:1');
    const taken = signal<string>();
    let room = 0;
    const claims = claimsOf({ room: () => room, take: ({ key }) => taken.give(key) });
    await claims.start();
    room = 1;
    claims.onRoom();
    expect(await taken.promise).toBe('g:1');
    await claims.close();
  });

  test('renew what is held before they claim, when the process was paused for longer than a lease', async () => {
    await add('g:1');
    const [held] = await store.claim(QUEUE, { owner: 'me', limit: 1, ms: HOUR_MS });
    if (held === undefined) throw new Error('There was nothing to claim.');
    const order: string[] = [];
    vi.spyOn(leases, 'renew').mockImplementation(async () => void order.push('renew'));
    const claims = claimsOf({
      store: {
        write: (...args) => store.write(...args),
        claim: async (...args) => {
          order.push('claim');
          return store.claim(...args);
        },
      },
    });
    leases.keep(held, () => undefined, performance.now() - leases.leaseMs);
    await claims.start();
    leases.drop(held);
    claims.wake();
    await claims.close();
    expect(order).toEqual(['renew', 'claim', 'claim']);
  });

  test('report the first of several failures, and claim again when the store is back', async () => {
    await add('g:1');
    const taken = signal<string>();
    let failing = 3;
    const claims = claimsOf({
      store: {
        write: (...args) => store.write(...args),
        claim: async (...args) => {
          if (failing-- > 0) throw new Error('away');
          return store.claim(...args);
        },
      },
      take: ({ key }) => taken.give(key),
    });
    await claims.start();
    expect(await taken.promise).toBe('g:1');
    expect(failures).toHaveLength(1);
    await claims.close();
  });
});

describe('ClaimedWork', () => {
  const ever = new Promise<void>(() => undefined);

  test('has no more at a time than it may, and claims the rest when there is room', async () => {
    for (const key of ['g:1', 'g:2', 'g:3']) await add(key);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = new ClaimedWork({
      ...{ store, queue: QUEUE, leases, owner: 'me', subject: 'tests', maxRunning: 2 },
      async work(lease) {
        begun.push(lease.key);
        await new Promise<void>((resolve) => ends.push(resolve));
        await store.write([{ do: 'dequeue', queue: QUEUE, key: lease.key }], { guard: lease });
      },
      log: (_level, _message, error) => failures.push(error),
    });
    work.start();
    await until('the work begins that there is room for', () => ends.length > 0);
    expect(ends).toHaveLength(2);
    ends[0]?.();
    await until('the rest is claimed', () => ends.length === 3);
    expect(begun.sort()).toEqual(['g:1', 'g:2', 'g:3']);
    for (const end of ends) end();
    await work.close(ever);
    expect(failures).toEqual([]);
  });

  test('claims more while work only waits, because that takes no room', async () => {
    for (const key of ['g:1', 'g:2', 'g:3']) await add(key);
    const ends: (() => void)[] = [];
    const work = new ClaimedWork({
      ...{ store, queue: QUEUE, leases, owner: 'me', subject: 'tests', maxRunning: 1 },
      async work(lease, _signal, aside) {
        await aside(new Promise<void>((resolve) => ends.push(resolve)));
        await store.write([{ do: 'dequeue', queue: QUEUE, key: lease.key }], { guard: lease });
      },
      log: (_level, _message, error) => failures.push(error),
    });
    work.start();
    await until('all of them wait', () => ends.length === 3);
    for (const end of ends) end();
    await until('all is done', async () => (await store.size(QUEUE)) === 0);
    await work.close(ever);
    expect(failures).toEqual([]);
  });

  test('aborts at its end what has not ended by the deadline', async () => {
    await add('g:1');
    const begun = signal<AbortSignal>();
    const work = new ClaimedWork({
      ...{ store, queue: QUEUE, leases, owner: 'me', subject: 'tests', maxRunning: 2 },
      work: (_lease, aborted) =>
        new Promise((_resolve, reject) => {
          aborted.addEventListener('abort', () => reject(aborted.reason));
          begun.give(aborted);
        }),
      log: (_level, _message, error) => failures.push(error),
    });
    work.start();
    const aborted = await begun.promise;
    await work.close(Promise.resolve());
    expect(aborted.reason).toMatchObject({ message: 'The server is shutting down' });
    expect(failures).toEqual([]);
  });
});
