import type { ClientEvents } from '../model/client.js';

// The events of a client, and the problems that it reports.

type Listener<E extends keyof ClientEvents> = (value: ClientEvents[E]) => void;

const MAX_PROBLEMS = 20;

/** Calls the listeners of a client's events. A listener that throws affects neither the others nor the client. */
export class EventHub {
  readonly #listeners = new Map<keyof ClientEvents, Set<Listener<never>>>();
  /** The latest problems, for `info()`: many occur before a program can listen. */
  readonly problems: string[] = [];
  #reported = 0;

  on<E extends keyof ClientEvents>(event: E, listener: Listener<E>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    // The same function may be added twice, and each registration is removed on its own.
    const wrapper: Listener<E> = (value) => listener(value);
    listeners.add(wrapper);
    return () => listeners.delete(wrapper);
  }

  emit<E extends keyof ClientEvents>(event: E, value: ClientEvents[E]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      this.safely(`A listener for "${event}"`, () => (listener as Listener<E>)(value), event === 'problem');
    }
  }

  readonly problem = (message: string, cause?: unknown): void => {
    this.#reported += 1;
    this.problems.push(message);
    if (this.problems.length > MAX_PROBLEMS) this.problems.shift();
    this.emit('problem', cause === undefined ? { message } : { message, cause });
  };

  /** The number of problems reported so far. */
  get reported(): number {
    return this.#reported;
  }

  /** The latest problem since `reported`; it may explain a timeout. */
  problemSince(reported: number): string | undefined {
    return this.#reported > reported ? this.problems.at(-1) : undefined;
  }

  /** Calls a function of the program and reports its error, or the rejection of a promise that it returns and nobody awaits. */
  safely(label: string, call: () => unknown, quiet = false): void {
    const onError = (error: unknown): void => {
      if (!quiet) this.problem(`${label} threw`, error);
    };
    try {
      const result = call();
      if (result instanceof Promise) result.catch(onError);
    } catch (error) {
      onError(error);
    }
  }
}
