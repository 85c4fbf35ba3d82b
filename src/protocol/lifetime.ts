/**
 * How long a call lives. The AbortSignal is made when somebody first looks at it: most handlers never do, and making
 * one costs more than the rest of a small call.
 */
export class Lifetime {
  #controller: AbortController | undefined;
  #reason: unknown;
  #ended = false;
  #waiting: (() => void)[] | undefined;

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
    for (const resolve of this.#waiting ?? []) resolve();
    this.#waiting = undefined;
  }

  /** Resolves when it ends. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) resolve();
      else if (this.#waiting === undefined) this.#waiting = [resolve];
      else this.#waiting.push(resolve);
    });
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

/**
 * Resolves when a call ends. A signal weighs a kilobyte on Node, and subscriptions are many and long, so none is made where
 * there is none yet. A copy that middleware made may have another signal than its lifetime's.
 */
export function callEnded(call: WithSignal & { readonly [source]?: WithSignal }): Promise<void> {
  const lifetime = call[source];
  if (lifetime instanceof Lifetime && isLazy(call)) return lifetime.over();
  const { signal } = call;
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function isLazy(call: object): boolean {
  return Object.getOwnPropertyDescriptor(call, 'signal')?.get === lazySignal.get;
}
