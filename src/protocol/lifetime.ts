/**
 * How long a call lives. The AbortSignal is made when somebody first looks at it: most handlers never do, and making
 * one costs more than the rest of a small call.
 */
export class Lifetime {
  #controller: AbortController | undefined;
  #reason: unknown;
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  end(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
