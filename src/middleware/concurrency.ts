import { hasEnded, onEnd } from '../async/lifetime.js';
import type { Call, Dispatch, Middleware, Outcome } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { cancelledBy, McpError } from '../protocol/errors.js';
import { isLongLived } from './facts/call-facts.js';
import { type CallGroup, callGroup, groupNamer } from './facts/call-groups.js';

/** The options of `concurrency`. */
export interface ConcurrencyOptions {
  /** The number of calls that run at the same time. */
  readonly limit: number;
  /** The number of calls that wait for their turn. Further calls are refused with HTTP 503. Default: ten times `limit`. */
  readonly queue?: number | undefined;
  /** The longest time that a call waits for its turn, in milliseconds; then it is refused. Default: 30,000. */
  readonly maxWaitMs?: number | undefined;
  /** The calls that share the limit and the queue. Default: `everyone`, all calls of this process. */
  readonly by?: CallGroup | undefined;
  /** Whether a call counts. Default: all do, except those that always pass. */
  readonly when?: ((call: Call) => boolean) | undefined;
}

const optionTable = {
  limit: { is: 'count', required: true },
  queue: { is: 'count', min: 0 },
  maxWaitMs: { is: 'timer', default: 30_000 },
  by: { ...callGroup, default: 'everyone' },
  when: 'function',
} as const satisfies OptionTable<ConcurrencyOptions>;

/**
 * Limits the number of calls that run at the same time: `concurrency({ limit: 10 })`. Others wait for their turn, in the order in
 * which they came; a call that is cancelled leaves the queue. `ping`, `server/discover`, subscriptions and the methods of tasks
 * always pass. Each process counts its own calls.
 */
export function concurrency(options: ConcurrencyOptions): Middleware {
  const { by, when, limit, ...others } = readOptions('concurrency', options, optionTable);
  const limits = { queue: 10 * limit, ...others, limit };
  const nameOf = groupNamer(by);
  /** The groups with calls that run or wait. */
  const groups = new Map<string, Turnstile>();

  async function pass(group: string, call: Call, next: Dispatch): Promise<Outcome> {
    const turnstile = groups.get(group) ?? new Turnstile(limits);
    const turn = turnstile.enter(call);
    groups.set(group, turnstile);
    if (turn !== undefined) await turn;
    try {
      return await next(call);
    } finally {
      turnstile.exit();
      if (turnstile.isEmpty) groups.delete(group);
    }
  }

  return function concurrency(call, next) {
    const group = alwaysPasses(call) || when?.(call) === false ? undefined : nameOf(call);
    return group === undefined ? next(call) : pass(group, call, next);
  };
}

function alwaysPasses(call: Call): boolean {
  return call.method === 'ping' || call.method === 'server/discover' || isLongLived(call);
}

interface TurnstileLimits {
  readonly limit: number;
  readonly queue: number;
  readonly maxWaitMs: number;
}

/** Lets some calls in at a time. */
class Turnstile {
  readonly #limits: TurnstileLimits;
  /** Starts the calls that wait, first come, first served. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#running === 0;
  }

  /** Lets a call in. If it has to wait, resolves when it is its turn. */
  enter(call: Call): Promise<void> | undefined {
    if (this.#running < this.#limits.limit) {
      this.#running++;
      return undefined;
    }
    if (hasEnded(call)) throw cancelledBy(call.signal.reason);
    if (this.#waiting.size >= this.#limits.queue) throw busy('too many calls are waiting');
    return this.#wait(call);
  }

  exit(): void {
    const [start] = this.#waiting;
    // The next call takes over the place, so that no call that comes in between can.
    if (start === undefined) this.#running--;
    else start();
  }

  #wait(call: Call): Promise<void> {
    const { maxWaitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(start);
        clearTimeout(timer);
        forget();
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const fail = (error: McpError): void => {
        leave();
        reject(error);
      };
      const timer = setTimeout(() => fail(busy(`the call has waited for ${maxWaitMs} ms`)), maxWaitMs);
      const forget = onEnd(call, () => fail(cancelledBy(call.signal.reason)));
      this.#waiting.add(start);
    });
  }
}

function busy(reason: string): McpError {
  return new McpError('overloaded', `The server is busy: ${reason}. Retry later.`);
}
