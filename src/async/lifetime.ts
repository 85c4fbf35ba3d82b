/**
 * The lifetime of a call. The AbortSignal is made when it is first read: most handlers never read it, and making one costs more
 * than the rest of a small call.
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
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const tell of waiting) tell();
  }

  /** Resolves when it ends. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) resolve();
      else this.onEnd(resolve);
    });
  }

  /** Calls `listener` when it ends, unless the function that is returned was called before. */
  onEnd(listener: () => void): () => void {
    if (this.#waiting === undefined) this.#waiting = [listener];
    else this.#waiting.push(listener);
    return () => {
      const at = this.#waiting?.indexOf(listener) ?? -1;
      if (at >= 0) this.#waiting?.splice(at, 1);
    };
  }
}

export interface WithSignal {
  readonly signal: AbortSignal;
}

/** A call of a class that makes the lifetime when it is first read. A copy of the call has its signal, but not its lifetime. */
export interface Living extends WithSignal {
  readonly lifetime: Lifetime;
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

/** Gives an object the same lifetime that a call has. */
export function withSignalOf<T extends object>(call: WithSignal, object: T): T & WithSignal {
  return withSignal(object, lazyLifetime(call) ?? call);
}

/** Whether a call has ended. Like the others below, it makes no signal where there is none yet. */
export function hasEnded(call: WithSignal): boolean {
  return lazyLifetime(call)?.ended ?? call.signal.aborted;
}

/** Calls `listener` when a call ends, unless the function that is returned was called before. */
export function onEnd(call: WithSignal, listener: () => void): () => void {
  const lifetime = lazyLifetime(call);
  if (lifetime !== undefined) return lifetime.onEnd(listener);
  const { signal } = call;
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * Resolves when a call ends. A signal weighs a kilobyte on Node, and subscriptions are many and long, so none is made where
 * there is none yet. A copy that middleware made may have another signal than its lifetime's.
 */
export function callEnded(call: WithSignal): Promise<void> {
  const lifetime = lazyLifetime(call);
  if (lifetime !== undefined) return lifetime.over();
  return new Promise((resolve) => {
    if (call.signal.aborted) resolve();
    else onEnd(call, resolve);
  });
}

function lazyLifetime(call: Partial<Living> & { readonly [source]?: WithSignal }): Lifetime | undefined {
  if (call instanceof Lifetime) return call;
  const lifetime = call[source] ?? call.lifetime;
  if (!(lifetime instanceof Lifetime)) return undefined;
  const own = Object.getOwnPropertyDescriptor(call, 'signal');
  return own === undefined || own.get === lazySignal.get ? lifetime : undefined;
}
