// A timer that notices when the process itself was stopped.

import { every } from '../../../async/every.js';

/** Calls `beat` at intervals while it is needed. */
export class Pulse {
  readonly #ms: number;
  readonly #beat: (wasStopped: boolean) => void;
  #stop: (() => void) | undefined;
  #lastAt = 0;

  /** `beat` is told whether this process did not run for a while: then the silence of a peer says nothing. */
  constructor(ms: number, beat: (wasStopped: boolean) => void) {
    this.#ms = ms;
    this.#beat = beat;
  }

  start(): void {
    if (this.#stop !== undefined) return;
    this.#lastAt = performance.now();
    this.#stop = every(this.#ms, () => {
      const now = performance.now();
      const wasStopped = now - this.#lastAt > 1.5 * this.#ms;
      this.#lastAt = now;
      this.#beat(wasStopped);
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
