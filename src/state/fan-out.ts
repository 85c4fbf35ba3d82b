import { nextTurn } from '../async/next-turn.js';

// Delivers messages to many listeners without keeping the process from its other work.

/** The time that deliveries may take in one turn of the event loop. Sockets are written afterwards, which takes longer than this. */
const SLICE_MS = 2;
/** The number of listeners after which the clock is read. */
const LISTENERS_PER_LOOK = 50;
/** The number of deliveries that may wait. Beyond it, the oldest are made at once, so that they do not fill the memory. */
const MAX_WAITING = 1000;

interface Delivery<Listener> {
  readonly number: number;
  readonly deliver: (listener: Listener) => void;
}

/**
 * The listeners of a topic. Each gets every delivery once and in order. Deliveries are made at once if that does not take long;
 * otherwise they continue in later turns of the event loop. A listener that comes in the meantime gets the deliveries that are not
 * complete, too, because it may replace one that they have not reached.
 */
export class FanOut<Listener> {
  /** The listeners, each with the number of the last delivery that it got or need not get. */
  readonly #listeners = new Map<Listener, number>();
  readonly #waiting: Delivery<Listener>[] = [];
  /** The listeners that the oldest delivery has not reached yet. */
  #rest: Iterator<Listener> | undefined;
  #made = 0;
  #isScheduled = false;
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(listener: Listener): void {
    if (!this.#listeners.has(listener)) this.#listeners.set(listener, this.#made - this.#waiting.length);
  }

  /** Removes a listener. It gets first what waits for it. */
  remove(listener: Listener): void {
    for (const delivery of this.#listeners.has(listener) ? [...this.#waiting] : [])
      this.#deliver(listener, delivery);
    this.#listeners.delete(listener);
  }

  clear(): void {
    this.#listeners.clear();
    this.#waiting.length = 0;
    this.#rest = undefined;
  }

  deliver(deliver: (listener: Listener) => void): void {
    this.#waiting.push({ number: ++this.#made, deliver });
    while (this.#waiting.length > MAX_WAITING) this.#run(Number.POSITIVE_INFINITY);
    if (!this.#isScheduled) this.#runSlice();
  }

  #runSlice(): void {
    // A listener may cause further deliveries, which wait for their turn in this loop.
    this.#isScheduled = true;
    const until = performance.now() + SLICE_MS;
    do this.#run(LISTENERS_PER_LOOK);
    while (this.#waiting.length > 0 && performance.now() < until);
    this.#isScheduled = this.#waiting.length > 0;
    if (this.#isScheduled) nextTurn(() => this.#runSlice());
  }

  /** Makes the oldest delivery to so many further listeners. */
  #run(count: number): void {
    const delivery = this.#waiting[0];
    if (delivery === undefined) return;
    this.#rest ??= this.#listeners.keys();
    const rest = this.#rest;
    for (let reached = 0; reached < count; reached++) {
      const { value, done } = rest.next();
      if (done) return this.#complete(delivery);
      this.#deliver(value, delivery);
    }
  }

  // A listener may have caused so many deliveries that this one was completed in the meantime.
  #complete(delivery: Delivery<Listener>): void {
    if (this.#waiting[0] !== delivery) return;
    this.#waiting.shift();
    this.#rest = undefined;
  }

  #deliver(listener: Listener, { number, deliver }: Delivery<Listener>): void {
    if ((this.#listeners.get(listener) ?? number) >= number) return;
    this.#listeners.set(listener, number);
    try {
      deliver(listener);
    } catch (error) {
      // One listener that fails must not keep the others from hearing of a change.
      this.#onFailure(error);
    }
  }
}
