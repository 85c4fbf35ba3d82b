// The time in which at least one question of a story was open: the user's time.

export class AskingClock {
  #open = 0;
  #since = 0;
  #closedMs = 0;

  get isAsking(): boolean {
    return this.#open > 0;
  }

  /** The time of questions that are answered. */
  get closedMs(): number {
    return this.#closedMs;
  }

  /** All of it, also that of the question that is open now. */
  get totalMs(): number {
    return this.#closedMs + (this.isAsking ? performance.now() - this.#since : 0);
  }

  begin(): void {
    if (this.#open++ === 0) this.#since = performance.now();
  }

  answered(): void {
    if (this.#open === 0 || --this.#open > 0) return;
    this.#closedMs += performance.now() - this.#since;
  }

  /** The story is over: nothing is asked any more. */
  end(): void {
    if (this.#open === 0) return;
    this.#open = 1;
    this.answered();
  }
}
