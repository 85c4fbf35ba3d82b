// Limits the connections that one kind of work may use at a time, so that some are left for the others.

import { settlesWithin } from '../../../async/deadline.js';

/** How long a caller waits. */
export interface WaitOptions {
  /** Whether the time begins again whenever a caller leaves: the others wait for as long as there is progress. Default: false. */
  readonly waitsWhileOthersEnd?: boolean;
}

/** Lets a number of callers in. The others wait for their turn, in order. */
export class ConnectionLimit {
  readonly #most: number;
  readonly #waitMs: number;
  readonly #failure: (most: number, waitMs: number) => Error;
  readonly #waitsWhileOthersEnd: boolean;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;
  /** The time, on a monotonic clock, at which a caller last left. */
  #leftAt = Number.NEGATIVE_INFINITY;

  /** Makes a limit of `most` callers. A caller that waits for longer than `waitMs` fails with the error that `failure` makes. */
  constructor(
    most: number,
    waitMs: number,
    failure: (most: number, waitMs: number) => Error,
    { waitsWhileOthersEnd = false }: WaitOptions = {},
  ) {
    this.#most = most;
    this.#waitMs = waitMs;
    this.#failure = failure;
    this.#waitsWhileOthersEnd = waitsWhileOthersEnd;
  }

  /** Runs `work` when it is its turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#most) this.#inside++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#leftAt = performance.now();
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }

  async #turn(): Promise<void> {
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    this.#waiting.push(admit);
    for (let ms = this.#waitMs; ms > 0; ms = this.#moreMs()) if (await settlesWithin(admitted, ms)) return;
    const at = this.#waiting.indexOf(admit);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    throw this.#failure(this.#most, this.#waitMs);
  }

  #moreMs(): number {
    return this.#waitsWhileOthersEnd ? this.#leftAt + this.#waitMs - performance.now() : 0;
  }
}
