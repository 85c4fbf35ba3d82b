import { unref } from '../../../async/unref.js';
import { McpError } from '../../../protocol/errors.js';
import { type DrainableCalls, drain } from '../../server/drain.js';

/** A call being served, as what watches over it sees it. */
export interface InFlightCall {
  /** Open until somebody ends it, as a subscription is. */
  readonly long: boolean;
  /** Ends it: the handler's signal aborts, and the client is told why. */
  readonly end: (why: McpError) => void;
}

interface Entry extends InFlightCall {
  readonly since: number;
}

/** The calls being served: what a shutdown waits for, and what the time limit applies to. */
export class InFlight implements DrainableCalls {
  // Slots that are used again: beside its entry, a call that comes and goes leaves nothing behind.
  readonly #slots: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #ownTimers = false;
  #draining = false;
  #onEmpty: (() => void) | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get draining(): boolean {
    return this.#draining;
  }

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Returns the function that takes the call out again. */
  enter({ long, end }: InFlightCall): () => void {
    const entry: Entry = { long, end, since: performance.now() };
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = entry;
    const stopTimer = this.#timeoutMs > 0 ? this.#limit(entry) : undefined;
    return () => {
      stopTimer?.();
      if (this.#slots[slot] !== entry) return;
      this.#slots[slot] = undefined;
      this.#free.push(slot);
      if (this.size === 0) this.#onEmpty?.();
    };
  }

  // One timer for all calls, where timers are the process's: one for each would cost more than many a call does. Elsewhere
  // a timer may end with the request that made it, as it does on Workers, and each call needs its own.
  #limit(entry: Entry): (() => void) | undefined {
    if (this.#timer === undefined && !this.#ownTimers) this.#startTimer();
    if (!this.#ownTimers || entry.long) return undefined;
    const own = setTimeout(() => entry.end(this.#tooLate()), this.#timeoutMs);
    return () => clearTimeout(own);
  }

  #startTimer(): void {
    const timer = setInterval(() => this.#sweep(), Math.max(5, Math.min(1000, this.#timeoutMs / 10)));
    if (unref(timer)) this.#timer = timer;
    else {
      clearInterval(timer);
      this.#ownTimers = true;
    }
  }

  #sweep(): void {
    const overdue = performance.now() - this.#timeoutMs;
    for (const { long, since, end } of this.#entries()) if (!long && since <= overdue) end(this.#tooLate());
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tooLate(): McpError {
    return new McpError('timeout', `The call took longer than ${this.#timeoutMs} ms`);
  }

  /** Drains the open calls. The endpoint refuses further ones, because `draining` is true from now on. */
  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    await drain(this, deadlineMs);
    clearInterval(this.#timer);
  }

  endSubscriptions(reason: McpError): void {
    for (const { long, end } of this.#entries()) if (long) end(reason);
  }

  endAll(reason: McpError): void {
    for (const { end } of this.#entries()) end(reason);
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.size === 0) resolve();
      else this.#onEmpty = resolve;
    });
  }

  #entries(): Entry[] {
    return this.#slots.filter((entry) => entry !== undefined);
  }
}
