import { every } from '../../../async/every.js';
import { BodyStalled } from '../../../transports/http/server/incoming.js';

/** A body that is being read. */
export interface WatchedBody {
  /** The number of bytes that have arrived. */
  bytes: number;
  readonly silenceMs: number;
  /** Whether nothing more of it is expected. */
  readonly isOver: boolean;
  /** Called when the body was not complete at once. */
  expectMore(): void;
  /** Called when nothing has arrived for `silenceMs`. */
  readonly fail: (error: Error) => void;
  /** The number of bytes at the last check. */
  lastBytes: number;
  /** The time of the last check that found more bytes than before. */
  progressAt: number;
  /** Its index among the watched bodies; `UNWATCHED` if it is not watched. */
  slot: number;
}

export const UNWATCHED = -1;

/**
 * Finds bodies that stop arriving. Nearly all are complete within a turn of the event loop. Only the others are watched, which
 * costs a slot in an array and no timer of their own. A `Set` of them would constantly create and drop tables for the garbage
 * collector.
 */
export class BodyWatch {
  readonly #slots: (WatchedBody | undefined)[] = [];
  readonly #free: number[] = [];
  #newBodies: WatchedBody[] = [];
  #stopTimer: (() => void) | undefined;
  #shortestMs = Number.POSITIVE_INFINITY;

  /** Expects a body, which is watched if it is not complete after this turn of the event loop. */
  expect(body: WatchedBody): void {
    if (this.#newBodies.push(body) === 1) setImmediate(this.#checkNew);
  }

  readonly #checkNew = (): void => {
    const bodies = this.#newBodies;
    this.#newBodies = [];
    for (const body of bodies) {
      if (body.isOver) continue;
      if (body.silenceMs > 0) this.#watch(body);
      body.expectMore();
    }
  };

  #watch(body: WatchedBody): void {
    body.slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[body.slot] = body;
    if (body.silenceMs < this.#shortestMs) this.#startTimer(body.silenceMs);
  }

  forget(body: WatchedBody): void {
    const { slot } = body;
    if (slot === UNWATCHED) return;
    body.slot = UNWATCHED;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  #startTimer(silenceMs: number): void {
    this.#stopTimer?.();
    this.#shortestMs = silenceMs;
    this.#stopTimer = every(Math.max(5, silenceMs / 4), () => this.#tick());
  }

  #tick(): void {
    const now = performance.now();
    for (const body of this.#slots) {
      if (body === undefined) continue;
      if (body.bytes !== body.lastBytes) {
        body.lastBytes = body.bytes;
        body.progressAt = now;
      } else if (now - body.progressAt >= body.silenceMs) {
        this.forget(body);
        body.fail(new BodyStalled(body.silenceMs));
      }
    }
    if (this.#free.length < this.#slots.length) return;
    this.#slots.length = 0;
    this.#free.length = 0;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#shortestMs = Number.POSITIVE_INFINITY;
  }
}
