import { onAbort } from './abort.js';

/**
 * The lifetime of a call. The AbortSignal is created when it is first read: most handlers never read it, and creating one costs
 * more than the rest of a small call.
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
    for (const listener of waiting) listener();
  }

  /** Resolves when the lifetime ends. */
  whenEnded(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) resolve();
      else this.onEnd(resolve);
    });
  }

  /** Calls `listener` when the lifetime ends, unless the returned function was called before. */
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
  /** The time in milliseconds that does not count, because the user was asked. Absent where nobody is asked during a call. */
  readonly pausedMs?: number;
}

/** A call of a class that creates the lifetime when it is first read. A copy of the call has its signal, but not its lifetime. */
export interface WithLifetime extends WithSignal {
  readonly lifetime: Lifetime;
}

const source: unique symbol = Symbol('fullmcp.signal');

// One getter for all calls. An object literal with a getter gets a new hidden class each time it is evaluated, which lives, with
// everything in the getter's scope, until the whole heap is collected.
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

/** Whether a call has ended. Like the functions below, this does not create a signal. */
export function hasEnded(call: WithSignal): boolean {
  return lazyLifetime(call)?.ended ?? call.signal.aborted;
}

/** Calls `listener` when a call ends, unless the returned function was called before. */
export function onEnd(call: WithSignal, listener: () => void): () => void {
  const lifetime = lazyLifetime(call);
  if (lifetime !== undefined) return lifetime.onEnd(listener);
  return onAbort(call.signal, listener);
}

/** The time of a call so far that does not count, because it was spent waiting for the user. */
export function pausedMsOf(call: Partial<WithLifetime> & { readonly [source]?: WithSignal }): number {
  const lifetime: WithSignal | undefined = call[source] ?? call.lifetime;
  return lifetime?.pausedMs ?? 0;
}

/**
 * Resolves when a call ends. Does not create a signal, which takes a kilobyte on Node, because subscriptions are many and long.
 * A copy of the call that middleware made may have another signal than that of its lifetime.
 */
export function callEnded(call: WithSignal): Promise<void> {
  const lifetime = lazyLifetime(call);
  if (lifetime !== undefined) return lifetime.whenEnded();
  return new Promise((resolve) => {
    if (call.signal.aborted) resolve();
    else onEnd(call, resolve);
  });
}

function lazyLifetime(
  call: Partial<WithLifetime> & { readonly [source]?: WithSignal },
): Lifetime | undefined {
  if (call instanceof Lifetime) return call;
  const lifetime = call[source] ?? call.lifetime;
  if (!(lifetime instanceof Lifetime)) return undefined;
  const own = Object.getOwnPropertyDescriptor(call, 'signal');
  return own === undefined || own.get === lazySignal.get ? lifetime : undefined;
}
