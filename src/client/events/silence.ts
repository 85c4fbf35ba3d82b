// Notices that a stream has gone silent: the server sends heartbeats, and the client learns how often.

/** The longest interval that a server may have. It is assumed until a heartbeat was seen. */
const MAX_INTERVAL_MS = 30_000;
/** The shortest silence that ends a stream: a busy machine may be late. */
const MIN_SILENCE_MS = 1000;
/** The intervals that count: heartbeats that were held up arrive together. */
const INTERVALS = 3;

/** Calls `onSilent` after a silence of twice the interval between heartbeats. */
export class SilenceWatch {
  readonly #onSilent: (ms: number) => void;
  readonly #intervals: number[] = [];
  #lastBeat: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSilent: (ms: number) => void) {
    this.#onSilent = onSilent;
  }

  /** The server has sent a heartbeat, or has confirmed the stream. */
  beat(): void {
    const now = performance.now();
    if (this.#lastBeat !== undefined) {
      this.#intervals.push(Math.min(now - this.#lastBeat, MAX_INTERVAL_MS));
      if (this.#intervals.length > INTERVALS) this.#intervals.shift();
    }
    this.#lastBeat = now;
    this.heard();
  }

  /** The server has sent something. */
  heard(): void {
    clearTimeout(this.#timer);
    const interval = this.#intervals.length === 0 ? MAX_INTERVAL_MS : Math.max(...this.#intervals);
    const ms = Math.max(2 * interval, MIN_SILENCE_MS);
    this.#timer = setTimeout(() => this.#onSilent(Math.round(ms)), ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
