/** A body that is being read. */
export interface WatchedBody {
  /** How much of it has come. */
  bytes: number;
  readonly silenceMs: number;
  /** Nothing of it has come for `silenceMs`. */
  readonly stalled: () => void;
  /** How much had come when somebody last looked and found more than before, and when that was. */
  seen: number;
  seenAt: number;
}

/**
 * Finds bodies that stop arriving. Nearly all are here and gone within a turn of the event loop, so a body costs an entry in a
 * set and no timer of its own.
 */
export class BodyWatch {
  readonly #bodies = new Set<WatchedBody>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #everyMs = Number.POSITIVE_INFINITY;

  watch(body: WatchedBody): void {
    this.#bodies.add(body);
    const everyMs = Math.max(5, body.silenceMs / 4);
    if (this.#timer !== undefined && everyMs >= this.#everyMs) return;
    clearInterval(this.#timer);
    this.#everyMs = everyMs;
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  forget(body: WatchedBody): void {
    this.#bodies.delete(body);
  }

  #look(): void {
    const now = performance.now();
    for (const body of this.#bodies) {
      if (body.bytes !== body.seen) {
        body.seen = body.bytes;
        body.seenAt = now;
      } else if (now - body.seenAt >= body.silenceMs) {
        this.#bodies.delete(body);
        body.stalled();
      }
    }
    if (this.#bodies.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#everyMs = Number.POSITIVE_INFINITY;
  }
}
