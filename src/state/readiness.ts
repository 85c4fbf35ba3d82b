// Whether a server can answer calls: its engine responds, and its middleware does not refuse them.

import { settlesWithin } from '../async/deadline.js';

/** The time for the checks. A probe that asks has a limit of its own, and is told the reason if this one is shorter. */
const RESPONSE_MS = 1000;
/** The time for which a result is used again: anybody may ask, as often as they like. */
const FRESH_MS = 500;

/** The parts of a `Readiness`. */
export interface ReadinessParts {
  /** Returns the functions that reject while the server is not ready. Without any, it always is. */
  readonly checks: () => readonly (() => Promise<void>)[];
  /** Called when the server stops being ready, with the reason. */
  readonly onUnavailable: (error: unknown) => void;
  /** Called when the server is ready again. */
  readonly onAvailable: () => void;
}

/** Checks whether the server is ready, at most once at a time and twice a second. */
export class Readiness {
  readonly #parts: ReadinessParts;
  #asking: Promise<boolean> | undefined;
  #isReady = true;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Whether the server is ready. Resolves in bounded time, even if the engine never responds. */
  async check(): Promise<boolean> {
    const checks = this.#parts.checks();
    if (checks.length === 0) return true;
    if (performance.now() - this.#askedAt < FRESH_MS) return this.#isReady;
    this.#asking ??= this.#ask(checks).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(checks: readonly (() => Promise<void>)[]): Promise<boolean> {
    const { onUnavailable, onAvailable } = this.#parts;
    const wasReady = this.#isReady;
    try {
      const ready = Promise.all(checks.map((check) => check()));
      if (!(await settlesWithin(ready, RESPONSE_MS))) {
        ready.catch(() => undefined);
        throw new Error(`There was no response within ${RESPONSE_MS} ms.`);
      }
      await ready;
      this.#isReady = true;
      if (!wasReady) onAvailable();
    } catch (error) {
      this.#isReady = false;
      if (wasReady) onUnavailable(error);
    }
    this.#askedAt = performance.now();
    return this.#isReady;
  }
}
