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

interface WithSignal {
  readonly signal: AbortSignal;
}

const source: unique symbol = Symbol('fullmcp.signal');

// One getter for all calls. An object literal with a getter in it gets a hidden class of its own each time it is evaluated,
// and that lives, with everything the getter can see, until the whole heap is collected.
const lazySignal: PropertyDescriptor & ThisType<{ readonly [source]: WithSignal }> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[source].signal;
  },
};

/** Gives a call the signal of its lifetime. The property is the call's own, so that a spread copies it. */
export function withSignal<T extends object>(call: T, lifetime: WithSignal): T & WithSignal {
  (call as { [source]?: WithSignal })[source] = lifetime;
  return Object.defineProperty(call, 'signal', lazySignal) as T & WithSignal;
}
