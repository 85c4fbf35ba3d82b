// Whether a server can do what it needs its engine for.

import { settlesWithin } from '../async/deadline.js';
import type { Cluster } from './cluster.js';

/** The time for the engine to respond. A probe that asks has a limit of its own, and is told the reason if this one is shorter. */
const RESPONSE_MS = 1000;
/** The time for which a result is used again: anybody may ask, as often as they like. */
const FRESH_MS = 500;

/** The parts of a `Readiness`. */
export interface ReadinessParts {
  /** Returns the cluster; undefined if the server has none, and so is always ready. */
  readonly cluster: () => Pick<Cluster, 'ping'> | undefined;
  /** Called when the server stops being ready, with the reason. */
  readonly onUnavailable: (error: unknown) => void;
  /** Called when the server is ready again. */
  readonly onAvailable: () => void;
}

/** Asks the engine whether it responds, at most once at a time and twice a second. */
export class Readiness {
  readonly #parts: ReadinessParts;
  #asking: Promise<boolean> | undefined;
  #isReady = true;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Whether the engine responds. Resolves in bounded time, even if the engine never does. */
  async check(): Promise<boolean> {
    const cluster = this.#parts.cluster();
    if (cluster === undefined) return true;
    if (performance.now() - this.#askedAt < FRESH_MS) return this.#isReady;
    this.#asking ??= this.#ask(cluster).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(cluster: Pick<Cluster, 'ping'>): Promise<boolean> {
    const { onUnavailable, onAvailable } = this.#parts;
    const wasReady = this.#isReady;
    try {
      const pong = cluster.ping();
      if (!(await settlesWithin(pong, RESPONSE_MS))) {
        pong.catch(() => undefined);
        throw new Error(`The engine did not respond within ${RESPONSE_MS} ms.`);
      }
      await pong;
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
