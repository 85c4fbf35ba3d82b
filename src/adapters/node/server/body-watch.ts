import { BodyStalled } from '../../../transports/http/server/incoming.js';

/** A body that is being read. */
export interface WatchedBody {
  /** How much of it has come. */
  bytes: number;
  readonly silenceMs: number;
  /** Whether nothing more of it is expected. */
  readonly over: boolean;
  /** Hears that it was not complete at once. */
  expectMore(): void;
  /** Hears that nothing of it has come for `silenceMs`. */
  readonly fail: (error: Error) => void;
  /** How much had come when somebody last looked and found more than before, and when that was. */
  seen: number;
  seenAt: number;
  /** Its place among the watched; `UNWATCHED` where it has none. */
  slot: number;
}

export const UNWATCHED = -1;

/**
 * Finds bodies that stop arriving. Nearly all are here and gone within a turn of the event loop: only those that are not are
 * watched, and cost a slot in a list and no timer of their own. A `Set` of them would make and drop tables all the time, for
 * the collector to clear away.
 */
export class BodyWatch {
  readonly #slots: (WatchedBody | undefined)[] = [];
  readonly #free: number[] = [];
  #begun: WatchedBody[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #shortestMs = Number.POSITIVE_INFINITY;

  /** A body is expected. One that is not complete after this turn of the event loop is watched. */
  begin(body: WatchedBody): void {
    if (this.#begun.push(body) === 1) setImmediate(this.#lookAtBegun);
  }

  readonly #lookAtBegun = (): void => {
    const begun = this.#begun;
    this.#begun = [];
    for (const body of begun) {
      if (body.over) continue;
      if (body.silenceMs > 0) this.#watch(body);
      body.expectMore();
    }
  };

  #watch(body: WatchedBody): void {
    body.slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[body.slot] = body;
    if (body.silenceMs < this.#shortestMs) this.#lookOften(body.silenceMs);
  }

  forget(body: WatchedBody): void {
    const { slot } = body;
    if (slot === UNWATCHED) return;
    body.slot = UNWATCHED;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  #lookOften(silenceMs: number): void {
    clearInterval(this.#timer);
    this.#shortestMs = silenceMs;
    this.#timer = setInterval(() => this.#look(), Math.max(5, silenceMs / 4)).unref();
  }

  #look(): void {
    const now = performance.now();
    for (const body of this.#slots) {
      if (body === undefined) continue;
      if (body.bytes !== body.seen) {
        body.seen = body.bytes;
        body.seenAt = now;
      } else if (now - body.seenAt >= body.silenceMs) {
        this.forget(body);
        body.fail(new BodyStalled(body.silenceMs));
      }
    }
    if (this.#free.length < this.#slots.length) return;
    this.#slots.length = 0;
    this.#free.length = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#shortestMs = Number.POSITIVE_INFINITY;
  }
}
