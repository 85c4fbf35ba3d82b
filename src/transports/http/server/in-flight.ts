import { settlesWithin } from '../../../async/deadline.js';
import { unref } from '../../../async/unref.js';
import { McpError } from '../../../protocol/errors.js';
import { type DrainableCalls, drain, shutdownError } from '../../server/drain.js';

/** A call in flight. */
export interface InFlightCall {
  /** A subscription stays open until it is ended, and has no time limit. */
  readonly isSubscription: boolean;
  /** Ends the call: the handler's signal aborts, and the client gets the reason. */
  readonly end: (why: McpError) => void;
}

interface Entry extends InFlightCall {
  readonly startedAt: number;
}

/** The time for the bodies and the callers of requests that have come before a shutdown. Others would keep the server open. */
const ARRIVAL_MS = 2000;

/** The calls in flight: a shutdown waits for them, and the time limit applies to them. */
export class InFlight implements DrainableCalls {
  // Slots are reused, so that a call allocates nothing but its entry.
  readonly #slots: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #hasOwnTimers = false;
  #isLeaving = false;
  #isDraining = false;
  /** The requests that have no reply yet. Their bodies may still arrive, so not all of them are calls. */
  #requests = 0;
  #whenArrived: (() => void) | undefined;
  readonly #whenEmpty = new Set<() => void>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Whether the server will shut down soon. It still serves, and tells balancers to choose another one. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get draining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** A request was accepted. */
  requestBegan(): void {
    this.#requests++;
  }

  /** A request that was accepted has its reply. */
  requestEnded(): void {
    if (--this.#requests === 0) this.#whenArrived?.();
  }

  /** Adds a call. Returns the function that removes it. */
  enter({ isSubscription, end }: InFlightCall): () => void {
    const entry: Entry = { isSubscription, end, startedAt: performance.now() };
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = entry;
    const stopTimer = this.#timeoutMs > 0 ? this.#limit(entry) : undefined;
    return () => {
      stopTimer?.();
      if (this.#slots[slot] !== entry) return;
      this.#slots[slot] = undefined;
      this.#free.push(slot);
      if (this.#isDraining && this.size === 0) this.#resolveSettled();
    };
  }

  // One timer serves all calls: a timer for each would cost more than many calls do. On Workers, a timer ends with the request
  // that started it, so each call there has its own.
  #limit(entry: Entry): (() => void) | undefined {
    if (this.#timer === undefined && !this.#hasOwnTimers) this.#startTimer();
    if (!this.#hasOwnTimers || entry.isSubscription) return undefined;
    const own = setTimeout(() => entry.end(this.#timeoutError()), this.#timeoutMs);
    return () => clearTimeout(own);
  }

  #startTimer(): void {
    const timer = setInterval(() => this.#sweep(), Math.max(5, Math.min(1000, this.#timeoutMs / 10)));
    if (unref(timer)) this.#timer = timer;
    else {
      clearInterval(timer);
      this.#hasOwnTimers = true;
    }
  }

  #sweep(): void {
    const overdue = performance.now() - this.#timeoutMs;
    for (const { isSubscription, startedAt, end } of this.#entries())
      if (!isSubscription && startedAt <= overdue) end(this.#timeoutError());
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #timeoutError(): McpError {
    return new McpError('timeout', `The call took longer than ${this.#timeoutMs} ms`);
  }

  leave(): void {
    this.#isLeaving = true;
  }

  /** Drains the open calls. The endpoint refuses further ones, because `draining` is true from now on. */
  async drain(deadlineMs: number): Promise<void> {
    this.#isLeaving = true;
    this.#isDraining = true;
    const startedAt = performance.now();
    this.endSubscriptions(shutdownError());
    if (this.#requests > this.size) await settlesWithin(this.#arrived(), Math.min(ARRIVAL_MS, deadlineMs));
    await drain(this, Math.max(0, deadlineMs - (performance.now() - startedAt)));
    clearInterval(this.#timer);
  }

  endSubscriptions(reason: McpError): void {
    for (const { isSubscription, end } of this.#entries()) if (isSubscription) end(reason);
  }

  endAll(reason: McpError): void {
    for (const { end } of this.#entries()) end(reason);
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.size === 0) resolve();
      else this.#whenEmpty.add(resolve);
    });
  }

  #arrived(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenArrived = resolve;
    });
  }

  #resolveSettled(): void {
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty.clear();
  }

  #entries(): Entry[] {
    return this.#slots.filter((entry) => entry !== undefined);
  }
}
