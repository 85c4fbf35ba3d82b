import { expect, test } from 'vitest';
import { MemoryQueue } from '../../../../src/state/memory/queue.js';
import type { Lease } from '../../../../src/state/store.js';
import { seeded } from '../../../../src/testing/faults/seeded.js';
import { growth } from '../../../support/growth.js';

interface Known {
  readonly key: string;
  due: number;
  turn: number;
  lease: Lease | undefined;
}

/** A queue and what it should have, after random steps with a clock that can be set back. */
function walk(seed: number): void {
  const random = seeded(seed);
  const below = (count: number) => Math.floor(random() * count);
  let now = 1000;
  let tokens = 0;
  let turns = 0;
  const queue = new MemoryQueue('q', { now: () => now, nextToken: () => ++tokens });
  const known = new Map<string, Known>();
  const move = (one: Known, due: number): void => {
    one.due = due;
    one.turn = ++turns;
  };
  const steps: readonly ((one: Known | undefined, key: string) => void)[] = [
    (one, key) => {
      const inMs = below(50);
      queue.enqueue(key, inMs);
      if (one === undefined) known.set(key, { key, due: now + inMs, turn: ++turns, lease: undefined });
      else if (one.lease === undefined && now + inMs < one.due) move(one, now + inMs);
    },
    (one, key) => {
      if (one !== undefined) return;
      const lease = queue.hold(key, 20);
      known.set(key, { key, due: now + 20, turn: ++turns, lease });
    },
    (one, key) => {
      const inMs = below(50);
      queue.release(key, { inMs, keepAttempt: random() < 0.5 });
      if (one === undefined) return;
      one.lease = undefined;
      move(one, now + inMs);
    },
    (one, key) => {
      if (random() < 0.5) return;
      queue.dequeue(key);
      if (one !== undefined) known.delete(key);
    },
    (one) => {
      if (one?.lease === undefined) return;
      expect(queue.renew(one.lease, 30)).toBe(true);
      move(one, now + 30);
    },
    () => {
      const limit = below(8);
      const due = [...known.values()].filter((one) => one.due <= now);
      due.sort((a, b) => a.due - b.due || a.turn - b.turn);
      const leases = queue.claim({ owner: 'o', limit, ms: 20 });
      expect(leases.map(({ key }) => key)).toEqual(due.slice(0, limit).map(({ key }) => key));
      for (const lease of leases) {
        const one = known.get(lease.key) as Known;
        one.lease = lease;
        move(one, now + 20);
      }
    },
  ];
  for (let step = 0; step < 300; step++) {
    const key = `key ${below(20)}`;
    steps[below(steps.length)]?.(known.get(key), key);
    now += below(12) - 3;
    expect(queue.size).toBe(known.size);
  }
}

test('a queue gives what is due, the earliest first, whatever was added, held, renewed, released and removed before', () => {
  for (let seed = 1; seed <= 200; seed++) walk(seed);
});

test('a claim of one key takes hardly longer if 100 times as many keys wait for later', () => {
  const queueOf = (count: number): MemoryQueue => {
    let tokens = 0;
    const queue = new MemoryQueue('q', { now: () => 1000, nextToken: () => ++tokens });
    for (let n = 0; n < count; n++) queue.enqueue(`later ${n}`, 1 + n);
    return queue;
  };
  const claimOne = (queue: MemoryQueue): void => {
    queue.enqueue('now', 0);
    expect(queue.claim({ owner: 'o', limit: 10, ms: 50 }).map(({ key }) => key)).toEqual(['now']);
    queue.dequeue('now');
  };
  expect(growth(claimOne, queueOf(500), queueOf(50_000))).toBeLessThan(20);
});
