import { nextTurn } from './next-turn.js';

// Reads iterables that someone else wrote: they may throw, never end, or wait for something that never comes.

/** The number of items after which other work gets a turn of the event loop. */
const SLICE = 1000;

export interface IterateOptions<T> {
  /** Called with each item and its index. Reading stops when it returns false. */
  readonly each: (item: T, index: number) => unknown;
  /** Registers a function that ends the reading with an error, and returns one that removes it. */
  readonly onEnd: (end: (reason: unknown) => void) => () => void;
}

/** Whether a value can be read item by item. A string cannot. */
export function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || isAsyncIterable(value));
}

/** Whether a value can be read item by item, asynchronously. */
function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * Reads an iterable until it is done, `each` returns false, something throws, or the reading is ended from outside. Resolves with the
 * value that the iterable returned, if it is done. The iterator is closed unless it has ended itself. When the reading is ended from
 * outside, nothing is waited for: neither the next item nor the end of the iterator.
 */
export async function iterate<T>(
  source: Iterable<T> | AsyncIterable<T>,
  { each, onEnd }: IterateOptions<T>,
): Promise<unknown> {
  const ending = new Ending();
  const forget = onEnd((reason) => ending.end(reason));
  let iterator: Iterator<T> | AsyncIterator<T> | undefined;
  let isOpen = false;
  try {
    ending.check();
    iterator = isAsyncIterable(source) ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    for (let index = 0; ; index++) {
      if (index % SLICE === SLICE - 1) await new Promise<void>(nextTurn);
      // An iterator that throws has ended.
      isOpen = false;
      const next = iterator.next();
      const { done, value } = 'then' in next ? await ending.unless(next) : next;
      if (done) return value;
      isOpen = true;
      const goesOn = each(value, index);
      if ((goesOn instanceof Promise ? await ending.unless(goesOn) : goesOn) === false) break;
      ending.check();
    }
  } catch (error) {
    // The error that ended the reading counts, and not one that follows from it.
    const closing = isOpen || ending.hasEnded ? close(iterator).catch(() => undefined) : undefined;
    if (!ending.hasEnded) await closing;
    throw error;
  } finally {
    forget();
  }
  await close(iterator);
  return undefined;
}

async function close(iterator: Iterator<unknown> | AsyncIterator<unknown> | undefined): Promise<void> {
  await iterator?.return?.();
}

/** The end from outside. One listener for all items: a race for each would keep something of every item until the end. */
class Ending {
  hasEnded = false;
  #reason: unknown;
  #reject: ((reason: unknown) => void) | undefined;

  end(reason: unknown): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#reason = reason;
    this.#reject?.(reason);
  }

  check(): void {
    if (this.hasEnded) throw this.#reason;
  }

  /** Settles as the promise does, or rejects with the reason of the end if that comes first. */
  unless<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      promise.then(resolve, reject);
      if (this.hasEnded) reject(this.#reason);
    });
  }
}
