import type { JsonObject, RequestId, RequestMessage } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import type { Handshake } from '../handshake.js';

// The record of a running call, which tells other processes that this one has it.

/** A call that runs, and whose client reads a stream. */
export interface StreamingCall {
  readonly stream: string;
  readonly ids: readonly RequestId[];
  readonly isBatch: boolean;
  readonly revision: Revision;
  /** The questions that are being sent, or whose answers the process waits for. */
  readonly asking?: AskedRef;
  /** A request that another process can simply serve again. */
  readonly again?: {
    readonly request: Pick<RequestMessage, 'id' | 'method' | 'params'>;
    readonly handshake: Handshake;
    readonly auth: Auth | undefined;
  };
}

/** The questions of a call in one of its rounds. */
export interface AskedRef {
  readonly call: string;
  readonly round: number;
}

/** A running call that this process holds. */
export interface HeldRun {
  readonly tag: string;
  readonly run: string;
  readonly running: StreamingCall;
  readonly lease: Lease;
  /** When the lease was requested, on a monotonic clock. */
  readonly requestedAt: number;
}

/** The events that the process that holds a running call wants to know of. */
export interface RunEvents {
  /** Another process has taken over the call. */
  readonly lost: () => void;
  /** It will soon be unknown for longer than a lease whether there is a record. The call ends before another process may end it. */
  readonly overdue?: () => void;
  /** The record is no longer held. */
  readonly ended?: () => void;
}

interface CallRecordParts {
  readonly store: Store;
  readonly forget: () => void;
  readonly confirm: () => boolean | Promise<boolean>;
}

/** The record of a running call. */
export class CallRecord {
  /** Whether another process has taken over, or will: then it ends the call, even if nobody has claimed it yet. */
  isLost = false;
  readonly #held: HeldRun;
  readonly #parts: CallRecordParts;
  #hasEnded = false;

  constructor(held: HeldRun, parts: CallRecordParts) {
    this.#held = held;
    this.#parts = parts;
  }

  /** Whether the call still belongs to this process. */
  confirm(): boolean | Promise<boolean> {
    if (this.isLost) return false;
    return this.#hasEnded || this.#parts.confirm();
  }

  /** Whether the call runs here: it has not ended, and is not known to be lost. */
  get isHeld(): boolean {
    return !this.#hasEnded && !this.isLost;
  }

  get lease(): Lease {
    return this.#held.lease;
  }

  /** The change that records whose questions are being sent or answered. */
  asking({ call, round }: AskedRef): StoreChange {
    const { tag, run, running } = this.#held;
    const value = { ...running, asking: { call, round } } as unknown as JsonObject;
    return { do: 'put', key: runKey(tag, run), value };
  }

  /** Removes the record: the call has ended, or waits without this process. */
  async end(changes: readonly StoreChange[] = []): Promise<void> {
    const { tag, run, lease } = this.#held;
    this.#hasEnded = true;
    this.#parts.forget();
    if (this.isLost) return;
    const ended: StoreChange[] = [
      { do: 'delete', key: runKey(tag, run) },
      { do: 'dequeue', queue: lease.queue, key: lease.key },
    ];
    // If this fails, the call is found without an owner later, and gets a second end that nobody reads.
    await this.#parts.store.write([...ended, ...changes], { guard: lease }).catch(() => undefined);
  }

  /** Gives the call to another process at once. The record stays, even if the call ends in this process later. */
  async release(): Promise<void> {
    if (this.isLost) return;
    this.isLost = true;
    this.#parts.forget();
    const { lease } = this.#held;
    await this.#parts.store.write([{ do: 'release', inMs: 0 }], { guard: lease }).catch(() => undefined);
  }
}

/** The key of the record of a running call. */
export function runKey(tag: string, run: string): string {
  return `running:${tag}:${run}`;
}
