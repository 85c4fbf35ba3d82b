// Runs calls that have an idempotency key, and gives repeated calls the outcome of the first. It is loaded with the first such call.

import { type BackoffOptions, backoff, delay } from '../../async/delay.js';
import type { Lifetime } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { LeaseKeeper } from '../../state/lease-keeper.js';
import type { Dequeue, Lease, Put, Store, StoreChange } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';
import type { Topic } from '../../state/topic.js';
import { EndWatch, type OutcomeAnnouncement } from './end-watch.js';
import {
  digest,
  endedBeforeStart,
  isUnknownOutcome,
  otherArgumentsError,
  unknownCallerError,
  unknownOutcomeError,
} from './idempotency-key.js';
import { KeyedCalls } from './keyed-calls.js';
import type { Logger } from './log.js';
import { isUnknownCaller } from './unknown-callers.js';

const PREFIX = 'outcome:';
/** The time that a call may take, besides its window, before its key is free again. */
const LONG_CALL_MS = 86_400_000;
/** The time for which it is known that a call was lost, besides its window. */
const LOST_MS = 600_000;
/** The number of lost calls that are recorded at a time. */
const REAPED = 32;
/** The time for which a key is freed whose claim failed, and the pauses between attempts. */
const FREE_MS = 60_000;
const RETRY_FREEING: BackoffOptions = { baseMs: 100, maxMs: 2000, jitter: [0.75, 1] };

/** A call that a client may repeat. */
export interface RepeatableCall {
  readonly call: Call;
  readonly tool: string;
  readonly windowMs: number;
  /** Whether running the call twice has the same effect as once, so that it may run again if its outcome is unknown. */
  readonly isHarmless: boolean;
  /** Runs the call. Runs with the same id give their steps the same keys. */
  readonly run: (call: Call, runId?: string) => Promise<Outcome>;
}

/** The parts of the server that `keyedRuns` needs. */
export interface KeyedRunsParts {
  /** The server's name. Its keys do not clash with those of another server. */
  readonly name: string;
  readonly store: Store;
  /** Tells other processes that a call has ended. */
  readonly outcomes: Topic<OutcomeAnnouncement>;
  readonly log: Logger;
  /** Whether the server has the option `user`, which may identify callers by something other than `auth`. */
  readonly hasUser: boolean;
  /** The time after which a process counts as dead. Default: 15 s. */
  readonly leaseMs: number | undefined;
}

/** The record of a keyed call in the store: its outcome once there is one, or that its process was lost. */
interface OutcomeRecord {
  readonly args: string;
  readonly windowMs: number;
  readonly outcome?: Outcome;
  readonly isLost?: boolean;
}

/** The identity of a keyed call: its key in the store, the digest of its arguments, and the id of its run. */
interface KeyScope {
  readonly key: string;
  readonly args: string;
  readonly runId: string;
}

/** Runs calls that have an idempotency key. */
export interface KeyedRuns {
  /** Runs a call, or returns the outcome of an earlier call with the same key. */
  readonly run: (key: string, repeatable: RepeatableCall) => Promise<Outcome>;
  /** Aborts the running calls, and waits briefly for them to end. */
  readonly close: () => Promise<void>;
}

const LOST = 'A call lost the lease of its idempotency key, so repeated calls do not get its outcome.';

interface Held {
  readonly lease: Lease;
  readonly requestedAt: number;
  readonly lifetime: Lifetime;
}

/**
 * Makes the function that runs calls with an idempotency key. A running call holds a lease in the store. A call with the same
 * key waits for it, in whatever process it runs; if that process is lost, its lease ends.
 */
export function keyedRuns({ name, store, outcomes, log, hasUser, leaseMs }: KeyedRunsParts): KeyedRuns {
  // Made when it is needed: Workers may not make random values while they load.
  let ownId: string | undefined;
  function owner(): string {
    ownId ??= crypto.randomUUID();
    return ownId;
  }
  const queue = `outcome:${name}`;
  const calls = new KeyedCalls();
  const leases = new LeaseKeeper(store, {
    ...(leaseMs !== undefined && { leaseMs }),
    onFailure: (error) =>
      log('error', 'The leases of calls with idempotency keys could not be renewed', error),
  });

  async function run(key: string, repeatable: RepeatableCall): Promise<Outcome> {
    const { call, tool } = repeatable;
    if (isUnknownCaller(call, hasUser)) throw unknownCallerError();
    const leave = calls.enter(call);
    try {
      const scope = await scopeOf(call, tool, key);
      return await calls.run(call, (keyedCall, lifetime) =>
        settle(scope, { ...repeatable, call: keyedCall }, lifetime),
      );
    } finally {
      leave();
    }
  }

  async function scopeOf(call: Call, tool: string, key: string): Promise<KeyScope> {
    const principal = principalOf(call);
    const args = await digest(call.params['arguments'] ?? {});
    const [group, id, runId] = await Promise.all([
      callerGroup(name, principal),
      digest([principal, tool, key]),
      digest([name, principal, tool, key, args]),
    ]);
    return { key: `${group}:${id}`, args, runId };
  }

  /** Runs the call if its key is free. Otherwise waits for the call that has the key. */
  async function settle(scope: KeyScope, repeatable: RepeatableCall, lifetime: Lifetime): Promise<Outcome> {
    for (;;) {
      if (lifetime.ended) throw endedBeforeStart(lifetime);
      const requestedAt = performance.now();
      const lease = await claim(scope, repeatable, { if: 'absent' });
      if (lease !== undefined) return runHeld(scope, repeatable, { lease, requestedAt, lifetime });
      // Watched before the entry is read, so that no end is missed.
      const watch = new EndWatch(outcomes, scope.key);
      try {
        const entry = await recorded(() => store.get(entryKey(scope)));
        const { args, outcome, isLost } = (entry?.value ?? {}) as unknown as Partial<OutcomeRecord>;
        if (entry !== undefined && args !== scope.args) throw otherArgumentsError();
        if (outcome !== undefined) return outcome;
        if (entry !== undefined && isLost === true) {
          if (!repeatable.isHarmless) throw unknownOutcomeError();
          const again = await claim(scope, repeatable, { if: { version: entry.version } });
          if (again !== undefined) return runHeld(scope, repeatable, { lease: again, requestedAt, lifetime });
        }
        // Another call has the key, or had it a moment ago.
        await recorded(reapLost);
        await watch.next(lifetime);
      } finally {
        watch.close();
      }
    }
  }

  async function runHeld(
    scope: KeyScope,
    { call, run: runCall, windowMs }: RepeatableCall,
    { lease, requestedAt, lifetime }: Held,
  ): Promise<Outcome> {
    // After the loss of its lease the call continues: it may have taken effect. Its outcome is not recorded.
    const release = leases.keep(lease, () => log('warning', LOST), requestedAt);
    try {
      const outcome = await runCall(call, scope.runId).catch(async (error: unknown) => {
        // An error means that the call had no effect. After an abort that is unknown, so the key stays taken.
        const isUnknown = lifetime.ended || isUnknownOutcome(error);
        await (isUnknown ? giveUp(scope, lease, windowMs) : forget(scope, lease));
        throw error;
      });
      // A question does not end the call: the next round has the same key.
      if (outcome.resultType === 'input_required') await forget(scope, lease);
      else await keep(scope, outcome, { lease, windowMs });
      return outcome;
    } finally {
      release();
      outcomes.publish({ key: scope.key });
    }
  }

  /** Records the start of the call before it runs. Undefined if the key is taken. */
  async function claim(
    scope: KeyScope,
    { windowMs }: RepeatableCall,
    condition: Pick<Put, 'if'>,
  ): Promise<Lease | undefined> {
    const mark = crypto.randomUUID();
    const value = { args: scope.args, windowMs, claim: mark };
    const written = await recorded(() =>
      store.write([
        { do: 'put', key: entryKey(scope), value, ttlMs: windowMs + LONG_CALL_MS, ...condition },
        { do: 'enqueue', queue, key: scope.key, hold: { owner: owner(), ms: leases.leaseMs } },
      ]),
    ).catch((error: unknown) => {
      void freeKey(store, { key: entryKey(scope), claim: mark, done: done(scope) }).then((isFreed) =>
        isFreed ? outcomes.publish({ key: scope.key }) : undefined,
      );
      throw error;
    });
    return written.ok ? written.lease : undefined;
  }

  async function recorded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      log('error', 'A call with an idempotency key was rejected: the store could not record the key', error);
      throw new McpError(
        'overloaded',
        'The call did not run: its idempotency key could not be recorded. Retry later.',
        { cause: error },
      );
    }
  }

  async function keep(
    scope: KeyScope,
    outcome: Outcome,
    { lease, windowMs }: { readonly lease: Lease; readonly windowMs: number },
  ): Promise<void> {
    const value = { args: scope.args, windowMs, outcome } as unknown as JsonObject;
    try {
      await store.write([{ do: 'put', key: entryKey(scope), value, ttlMs: windowMs }, done(scope)], {
        guard: lease,
      });
    } catch (error) {
      log(
        'error',
        'An outcome could not be saved. A repeated call gets the error that the outcome is unknown.',
        error,
      );
      await giveUp(scope, lease, windowMs);
    }
  }

  /** Records that the outcome of the call will never be known. */
  async function giveUp(scope: KeyScope, lease: Lease, windowMs: number): Promise<void> {
    const put = lostPut(entryKey(scope), { args: scope.args, windowMs });
    // If this fails, the lease ends, and the next call with the key records the same.
    await store.write([put, done(scope)], { guard: lease }).catch(() => undefined);
  }

  async function forget(scope: KeyScope, lease: Lease): Promise<void> {
    try {
      await store.write([{ do: 'delete', key: entryKey(scope) }, done(scope)], { guard: lease });
    } catch (error) {
      log('error', 'The idempotency key of a call that did not take place could not be freed', error);
    }
  }

  function done({ key }: KeyScope): Dequeue {
    return { do: 'dequeue', queue, key };
  }

  /** Records the calls whose processes were lost: their leases have ended. */
  async function reapLost(): Promise<void> {
    for (const lease of await store.claim(queue, { owner: owner(), limit: REAPED, ms: leases.leaseMs })) {
      const key = PREFIX + lease.key;
      const entry = await store.get(key);
      const changes: StoreChange[] = [{ do: 'dequeue', queue, key: lease.key }];
      if (entry !== undefined) changes.push(lostPut(key, entry.value as unknown as OutcomeRecord));
      const written = await store.write(changes, { guard: lease });
      if (written.ok) outcomes.publish({ key: lease.key });
    }
  }

  async function close(): Promise<void> {
    await calls.close();
    leases.close();
  }

  return { run, close };
}

function entryKey({ key }: KeyScope): string {
  return PREFIX + key;
}

function lostPut(key: string, { args, windowMs }: Pick<OutcomeRecord, 'args' | 'windowMs'>): Put {
  return { do: 'put', key, value: { args, windowMs, isLost: true }, ttlMs: windowMs + LOST_MS };
}

/** A claim of a key whose write failed. */
interface FailedClaim {
  /** The key of the entry that the claim wrote. */
  readonly key: string;
  /** The mark of the claim in that entry. */
  readonly claim: string;
  /** The change that ends the lease of the claim. */
  readonly done: Dequeue;
}

/**
 * Frees a key whose claim failed: the store may have made the write, and only its reply was lost. The client was told that the call
 * did not run, and may repeat it. Returns whether the key had to be freed.
 */
async function freeKey(store: Store, { key, claim, done }: FailedClaim): Promise<boolean> {
  const giveUpAt = performance.now() + FREE_MS;
  for (let attempt = 0; performance.now() < giveUpAt; attempt++) {
    try {
      const entry = await store.get(key);
      if (entry?.value['claim'] !== claim) return false;
      const { version } = entry;
      if ((await store.write([{ do: 'delete', key, if: { version } }, done])).ok) return true;
    } catch {
      // The store is still unavailable.
    }
    await delay(backoff(attempt, RETRY_FREEING), { unref: true });
  }
  return false;
}
