/** Runs work one piece after the other, in the order in which it comes. The failure of one piece does not keep the next one from running. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all earlier work has ended. Settles as it does. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    // Its errors belong to the caller.
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when all work so far has ended, however it ended. */
  get idle(): Promise<unknown> {
    return this.#last;
  }
}
