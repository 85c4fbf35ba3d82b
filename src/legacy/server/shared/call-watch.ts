import { settlesWithin } from '../../../async/deadline.js';
import { delay } from '../../../async/delay.js';
import { Retries, type RetriesOptions } from '../../../async/retries.js';
import { unref } from '../../../async/unref.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { LEASE_MS, LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Lease, Put, Store, StoreChange } from '../../../state/store.js';
import { CallRecord, type HeldRun, type RunEvents, runKey, type StreamingCall } from './call-record.js';
import { type AskedCall, randomPart } from './pending-calls.js';

// Watches over the calls of sessions, so that no client waits for a process that has died or for an answer that never comes.

/** The parts of a `CallWatch`. */
export interface CallWatchParts {
  readonly store: Store;
  readonly server: string;
  /**
   * Whether other processes use the store. Otherwise running calls are not claimed: nobody could take them over, and each claim would
   * cost a streamed call more than a tenth of its CPU time.
   */
  readonly isShared: boolean;
  /** The time for which a call waits for the answers of its client. */
  readonly askMs: number;
  readonly leaseMs?: number | undefined;
  readonly warn: (message: string) => void;
  /** Ends a call whose process has died, or serves it again. */
  readonly onDead: (tag: string, running: StreamingCall, attempt: number) => Promise<void>;
  /** Ends a call whose client has not answered in time. */
  readonly onExpired: (tag: string, call: string, round: number) => Promise<void>;
}

type Enqueue = Extract<StoreChange, { readonly do: 'enqueue' }>;

const CLAIMS = 20;
const MAX_ATTEMPTS = 5;
const RECORD_MS = 86_400_000;
const BEGIN_MS = 5000;
/** The time that a call has to reply with an error after the store has failed. */
const GRACE_MS = 200;
const KEY = /^([^:]+):(?:run:([0-9a-f]+)|ask:([0-9a-f]+):([0-9]+))$/;

/** Holds a lease on each running call that streams, and claims those of processes that have died. */
export class CallWatch {
  readonly #parts: CallWatchParts;
  readonly #queue: string;
  readonly #keeper: LeaseKeeper;
  #ownId: string | undefined;
  /** Ends what this process does about the calls that it holds, by key. */
  readonly #held = new Map<string, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #hasFailed = false;

  constructor(parts: CallWatchParts) {
    this.#parts = parts;
    this.#queue = `call:${parts.server}`;
    this.#keeper = new LeaseKeeper(parts.store, {
      leaseMs: parts.leaseMs ?? LEASE_MS,
      onFailure: (error) => this.#report(error),
    });
  }

  // Made when it is needed: Workers may not make random values while they load.
  #owner(): string {
    this.#ownId ??= randomPart();
    return this.#ownId;
  }

  /** Claims the calls of other processes from now on: they may die at any time. */
  start(): void {
    if (this.#parts.isShared) this.#claimSoon();
  }

  #claimSoon(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const { askMs } = this.#parts;
    const every = Math.max(10, Math.min(this.#keeper.leaseMs / 3, askMs / 2));
    this.#timer = setTimeout(() => void this.#claim(), every * (0.75 + Math.random() / 2));
    unref(this.#timer);
  }

  /** Records a call that has begun to stream. Undefined if no other process could take it over; resolves with undefined if the store failed. */
  begin(tag: string, running: StreamingCall, on: RunEvents): Promise<CallRecord | undefined> | undefined {
    return this.#parts.isShared ? this.#begin({ tag, run: randomPart(), running }, on) : undefined;
  }

  async #begin(call: Omit<HeldRun, 'lease' | 'requestedAt'>, on: RunEvents): Promise<CallRecord | undefined> {
    const sentAt = performance.now();
    const recording = this.#record(call, on);
    try {
      // The first event waits for the record, but not for a store that does not respond.
      if (await settlesWithin(recording, BEGIN_MS, { unref: true })) return await recording;
      recording.then((late) => late?.end()).catch(() => undefined);
      throw new Error(`It did not respond within ${BEGIN_MS} ms.`);
    } catch (error) {
      this.#report(error);
      void this.#unrecord(call, { sentAt, on });
      return undefined;
    }
  }

  // A write that failed may still have been made. A record that is not removed in time tells other processes that this one has died.
  async #unrecord(
    { tag, run, running }: Omit<HeldRun, 'lease' | 'requestedAt'>,
    { sentAt, on }: { readonly sentAt: number; readonly on: RunEvents },
  ): Promise<void> {
    const [put, { queue, key }] = this.#claimOf(tag, run, running);
    const isWritten = async (
      changes: readonly StoreChange[],
      limit: Pick<RetriesOptions, 'forMs' | 'maxAttempts'>,
    ) => {
      const retries = new Retries({ baseMs: 100, maxMs: 2000, unref: true, ...limit });
      while (await retries.next()) {
        try {
          await this.#parts.store.write(changes);
          return true;
        } catch {
          // The store is still unavailable.
        }
      }
      return false;
    };
    const endAt = sentAt + (this.#keeper.leaseMs * 2) / 3;
    const leftMs = (): number => Math.max(0, endAt - performance.now());
    const removal: StoreChange[] = [
      { do: 'delete', key: put.key },
      { do: 'dequeue', queue, key },
    ];
    if (leftMs() > 0 && (await isWritten(removal, { forMs: leftMs() }))) return;
    on.overdue?.();
    await delay(GRACE_MS, { unref: true });
    // Now the call belongs to the process that finds the record, so there must be one.
    on.lost();
    await isWritten([put, { do: 'enqueue', queue, key }], { maxAttempts: MAX_ATTEMPTS });
  }

  async #record(
    call: Omit<HeldRun, 'lease' | 'requestedAt'>,
    on: RunEvents,
  ): Promise<CallRecord | undefined> {
    const { tag, run, running } = call;
    const requestedAt = performance.now();
    const written = await this.#parts.store.write(this.#claimOf(tag, run, running));
    const lease = written.ok ? written.lease : undefined;
    return lease && this.keep({ ...call, lease, requestedAt }, on);
  }

  /** The changes that record a running call and claim it. Undefined if no other process could take it over. */
  claiming(tag: string, run: string, running: StreamingCall): readonly StoreChange[] | undefined {
    return this.#parts.isShared ? this.#claimOf(tag, run, running) : undefined;
  }

  #claimOf(tag: string, run: string, running: StreamingCall): readonly [Put, Enqueue] {
    const hold = { owner: this.#owner(), ms: this.#keeper.leaseMs };
    return [
      { do: 'put', key: runKey(tag, run), value: running as unknown as JsonObject, ttlMs: RECORD_MS },
      { do: 'enqueue', queue: this.#queue, key: `${tag}:run:${run}`, hold },
    ];
  }

  /** Renews the lease of a running call. */
  keep(held: HeldRun, { lost, ended }: RunEvents): CallRecord {
    const { key } = held.lease;
    const forget = (): void => {
      stop();
      if (this.#held.get(key) === lose) this.#held.delete(key);
      ended?.();
    };
    const lose = (): void => {
      record.isLost = true;
      forget();
      lost();
    };
    const stop = this.#keeper.keep(held.lease, lose, held.requestedAt);
    this.#held.set(key, lose);
    const confirm = (): boolean | Promise<boolean> =>
      this.#keeper.isValid(held.lease) || this.#keeper.confirm(held.lease);
    const record = new CallRecord(held, { store: this.#parts.store, forget, confirm });
    return record;
  }

  /** The change that watches a parked call, until it expires. */
  parked(tag: string, { call, round }: Pick<AskedCall, 'call' | 'round'>): StoreChange {
    this.#claimSoon();
    const key = `${tag}:ask:${call}:${round}`;
    return { do: 'enqueue', queue: this.#queue, key, inMs: this.#parts.askMs };
  }

  /** The change that watches the end of a parked call: a process that dies before it has stored the end leaves it to another. */
  ending(tag: string, { call, round }: Pick<AskedCall, 'call' | 'round'>): StoreChange {
    this.#claimSoon();
    const key = `${tag}:ask:${call}:${round}`;
    return { do: 'enqueue', queue: this.#queue, key, inMs: this.#keeper.leaseMs };
  }

  /** The change that ends the watch over a parked call. */
  unparked(tag: string, { call, round }: Pick<AskedCall, 'call' | 'round'>): StoreChange {
    return { do: 'dequeue', queue: this.#queue, key: `${tag}:ask:${call}:${round}` };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #claim(): Promise<void> {
    const { store, isShared } = this.#parts;
    this.#timer = undefined;
    try {
      const options = { owner: this.#owner(), limit: CLAIMS, ms: this.#keeper.leaseMs };
      const requestedAt = performance.now();
      const leases = await store.claim(this.#queue, options);
      await Promise.all(leases.map((lease) => this.#settle(lease, requestedAt)));
      this.#hasFailed = false;
      if (!isShared && (await store.size(this.#queue)) === 0) return;
    } catch (error) {
      this.#report(error);
    }
    this.#claimSoon();
  }

  // A failure leaves the key to the next claim.
  async #settle(lease: Lease, requestedAt: number): Promise<void> {
    const { store, onDead, onExpired } = this.#parts;
    const [, tag = '', run, call, round] = KEY.exec(lease.key) ?? [];
    // This process was cut off from the store for so long that it could claim its own call. It ends what it did about it first.
    this.#held.get(lease.key)?.();
    const changes: StoreChange[] = [{ do: 'dequeue', queue: this.#queue, key: lease.key }];
    const forget = this.#keeper.keep(lease, () => undefined, requestedAt);
    try {
      if (run !== undefined && lease.attempt <= MAX_ATTEMPTS) {
        const entry = await store.get(runKey(tag, run));
        if (entry) await onDead(tag, entry.value as unknown as StreamingCall, lease.attempt);
      }
      if (run !== undefined) changes.push({ do: 'delete', key: runKey(tag, run) });
      if (call !== undefined) await onExpired(tag, call, Number(round));
      await store.write(changes, { guard: lease });
    } catch (error) {
      this.#report(error);
    } finally {
      forget();
    }
  }

  #report(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#parts.warn(`The store failed, so the calls of sessions are not watched for now: ${reason}`);
  }
}
