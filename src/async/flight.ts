import { onAbort, unlessAborted } from './abort.js';

/** Work that several callers wait for. It is aborted when none of them waits any more. */
export class Flight<T> {
  readonly #stop = new AbortController();
  readonly #work: Promise<T>;
  #waiting = 0;
  #isOver = false;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work(this.#stop.signal).finally(() => {
      this.#isOver = true;
    });
    // Its errors belong to the callers that wait.
    this.#work.catch(() => undefined);
  }

  /** Resolves when the work has ended, however it ended. */
  get ended(): Promise<unknown> {
    return this.#work.catch(() => undefined);
  }

  /** Whether the work can no longer be joined, because everybody has left it. */
  get isAbandoned(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Aborts the work for everybody who waits for it. */
  cancel(reason: unknown): void {
    if (!this.#isOver) this.#stop.abort(reason);
  }

  /** Waits for the work. Rejects with the reason of `signal` if that aborts first. A caller without a signal never leaves. */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#waiting++;
    if (signal === undefined) return this.#work;
    let hasLeft = false;
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      if (--this.#waiting === 0 && !this.#isOver) this.#stop.abort(signal.reason);
    };
    const forget = onAbort(signal, leave);
    try {
      return await unlessAborted(this.#work, signal);
    } finally {
      forget();
      leave();
    }
  }
}

/** Flights by their keys: while one is under way, callers with the same key share it. */
export class Flights<K, T> {
  readonly #open = new Map<K, Flight<T>>();

  /** The number of flights that are under way. */
  get size(): number {
    return this.#open.size;
  }

  /** The keys of the flights that are under way. */
  keys(): Iterable<K> {
    return this.#open.keys();
  }

  /** The flight of a key that can be joined, if there is one. */
  get(key: K): Flight<T> | undefined {
    const open = this.#open.get(key);
    return open?.isAbandoned ? undefined : open;
  }

  /** Starts the flight of a key, in place of one that everybody has left. */
  start(key: K, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const flight = new Flight(work);
    this.#open.set(key, flight);
    void flight.ended.then(() => {
      if (this.#open.get(key) === flight) this.#open.delete(key);
    });
    return flight;
  }
}
