import { settlesWithin } from '../../../async/deadline.js';
import { unref } from '../../../async/unref.js';
import type { JsonObject, RequestId, RequestMessage } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import { LEASE_MS, LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import type { Handshake } from '../session.js';
import { type AskedCall, randomPart } from './pending-calls.js';

// Watches over the calls of sessions, so that no client waits for a process that has died or for an answer that never comes.

/** A call that runs, and whose client reads a stream. */
export interface StreamingCall {
  readonly stream: string;
  readonly ids: readonly RequestId[];
  readonly isBatch: boolean;
  readonly revision: Revision;
  /** The calls whose questions are being sent, or whose answers the process waits for. */
  readonly asking?: readonly string[];
  /** A request that another process can simply serve again. */
  readonly again?: {
    readonly request: Pick<RequestMessage, 'id' | 'method' | 'params'>;
    readonly handshake: Handshake;
    readonly auth: Auth | undefined;
  };
}

/** The parts of a `CallWatch`. */
export interface CallWatchParts {
  readonly store: Store;
  readonly server: string;
  /** Whether other processes use the store. Otherwise running calls are not recorded: they would be lost with it. */
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

const CLAIMS = 20;
const MAX_ATTEMPTS = 5;
const RECORD_MS = 86_400_000;
const BEGIN_MS = 5000;
const KEY = /^([^:]+):(?:run:([0-9a-f]+)|ask:([0-9a-f]+):([0-9]+))$/;

/** Holds a lease on each running call that streams, and claims those of processes that have died. */
export class CallWatch {
  readonly #parts: CallWatchParts;
  readonly #queue: string;
  readonly #keeper: LeaseKeeper;
  readonly #owner = randomPart();
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

  /** Claims from now on: other processes may die at any time, and parked calls expire. */
  start(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const { askMs } = this.#parts;
    const every = Math.max(10, Math.min(this.#keeper.leaseMs / 3, askMs / 2));
    this.#timer = setTimeout(() => void this.#claim(), every * (0.75 + Math.random() / 2));
    unref(this.#timer);
  }

  /** Records a call that has begun to stream. Undefined if no other process could do anything about it. */
  async begin(tag: string, running: StreamingCall, on: RunEvents): Promise<CallRecord | undefined> {
    if (!this.#parts.isShared) return undefined;
    const run = randomPart();
    const recording = this.#record({ tag, run, running }, on);
    try {
      // The first event waits for the record, but not for a store that does not respond.
      if (await settlesWithin(recording, BEGIN_MS, { unref: true })) return await recording;
      recording.then((late) => late?.end()).catch(() => undefined);
      throw new Error(`It did not respond within ${BEGIN_MS} ms.`);
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  async #record(call: Omit<HeldRun, 'lease'>, on: RunEvents): Promise<CallRecord | undefined> {
    const { tag, run, running } = call;
    const written = await this.#parts.store.write(this.runChanges(tag, run, running));
    const lease = written.ok ? written.lease : undefined;
    return lease && this.keep({ ...call, lease }, on);
  }

  /** The changes that record a running call and claim it. */
  runChanges(tag: string, run: string, running: StreamingCall): readonly StoreChange[] {
    const hold = { owner: this.#owner, ms: this.#keeper.leaseMs };
    return [
      { do: 'put', key: runKey(tag, run), value: running as unknown as JsonObject, ttlMs: RECORD_MS },
      { do: 'enqueue', queue: this.#queue, key: `${tag}:run:${run}`, hold },
    ];
  }

  /** Renews the lease of a running call. */
  keep(held: HeldRun, { lost, ended }: RunEvents): CallRecord {
    const stop = this.#keeper.keep(held.lease, () => {
      record.isLost = true;
      ended?.();
      lost();
    });
    const forget = (): void => {
      stop();
      ended?.();
    };
    const record = new CallRecord(held, { store: this.#parts.store, forget });
    return record;
  }

  /** The change that watches a parked call, until it expires. */
  parked(tag: string, { call, round }: Pick<AskedCall, 'call' | 'round'>): StoreChange {
    this.start();
    const key = `${tag}:ask:${call}:${round}`;
    return { do: 'enqueue', queue: this.#queue, key, inMs: this.#parts.askMs };
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
      const options = { owner: this.#owner, limit: CLAIMS, ms: this.#keeper.leaseMs };
      const leases = await store.claim(this.#queue, options);
      await Promise.all(leases.map((lease) => this.#settle(lease)));
      this.#hasFailed = false;
      if (!isShared && (await store.size(this.#queue)) === 0) return;
    } catch (error) {
      this.#report(error);
    }
    this.start();
  }

  // A failure leaves the key to the next claim.
  async #settle(lease: Lease): Promise<void> {
    const { store, onDead, onExpired } = this.#parts;
    const [, tag = '', run, call, round] = KEY.exec(lease.key) ?? [];
    const changes: StoreChange[] = [{ do: 'dequeue', queue: this.#queue, key: lease.key }];
    const forget = this.#keeper.keep(lease, () => undefined);
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

/** A running call that this process holds. */
export interface HeldRun {
  readonly tag: string;
  readonly run: string;
  readonly running: StreamingCall;
  readonly lease: Lease;
}

/** The events that the process that holds a running call wants to know of. */
export interface RunEvents {
  /** Another process has taken over the call. */
  readonly lost: () => void;
  /** The record is no longer held. */
  readonly ended?: () => void;
}

/** The record of a running call. */
export class CallRecord {
  /** Whether another process has taken over, or will: then it ends the call, even if nobody has claimed it yet. */
  isLost = false;
  readonly #held: HeldRun;
  readonly #parts: { readonly store: Store; readonly forget: () => void };

  constructor(held: HeldRun, parts: { readonly store: Store; readonly forget: () => void }) {
    this.#held = held;
    this.#parts = parts;
  }

  get lease(): Lease {
    return this.#held.lease;
  }

  /** The change that records whose questions are being sent or answered. */
  asking(calls: readonly string[]): StoreChange {
    const { tag, run, running } = this.#held;
    const value = { ...running, asking: calls } as unknown as JsonObject;
    return { do: 'put', key: runKey(tag, run), value };
  }

  /** Removes the record: the call has ended, or waits without this process. */
  async end(changes: readonly StoreChange[] = []): Promise<void> {
    const { tag, run, lease } = this.#held;
    this.#parts.forget();
    if (this.isLost) return;
    const ended: StoreChange[] = [
      { do: 'delete', key: runKey(tag, run) },
      { do: 'dequeue', queue: lease.queue, key: lease.key },
    ];
    // If this fails, the call is found without an owner later, and gets a second end that nobody reads.
    await this.#parts.store.write([...ended, ...changes], { guard: lease }).catch(() => undefined);
  }

  /** Gives the call to another process at once. */
  async release(): Promise<void> {
    this.#parts.forget();
    const { lease } = this.#held;
    await this.#parts.store.write([{ do: 'release', inMs: 0 }], { guard: lease }).catch(() => undefined);
  }
}

function runKey(tag: string, run: string): string {
  return `running:${tag}:${run}`;
}
