// The running calls that have an idempotency key.

import { settlesWithin } from '../../async/deadline.js';
import { hasEnded, Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';

/** The limit for one caller. These calls outlive their connections, so the limits of a connection do not apply. */
const MAX_RUNNING = 1000;
/** The time that handlers have to end when the server closes. */
const CLOSE_MS = 2000;

/**
 * The running calls that have an idempotency key. Each has a lifetime of its own: a client that lost its connection calls again
 * with the same key and gets the outcome. Only a cancellation, a time limit or a shutdown aborts the call.
 */
export class KeyedCalls {
  readonly #open = new Map<Lifetime, Promise<unknown>>();
  readonly #running = new Map<string, number>();

  /** Runs `work` with a copy of the call that does not end with its connection, and with the lifetime that it has instead. */
  async run(call: Call, work: (call: Call, lifetime: Lifetime) => Promise<Outcome>): Promise<Outcome> {
    const lifetime = new Lifetime();
    const follow = (): void => {
      const { reason } = call.signal;
      if (!(McpError.is(reason) && reason.code === 'connection_closed')) lifetime.end(reason);
    };
    if (hasEnded(call)) follow();
    const unfollow = onEnd(call, follow);
    const running = work(withSignal(copyCall(call), lifetime), lifetime);
    this.#open.set(
      lifetime,
      running.catch(() => undefined),
    );
    try {
      return await running;
    } finally {
      unfollow();
      this.#open.delete(lifetime);
    }
  }

  /** Counts a call, whether it runs or waits for another call with its key. Returns a function that ends the count. */
  enter(call: Call): () => void {
    const principal = principalOf(call);
    const count = this.#running.get(principal) ?? 0;
    if (count >= MAX_RUNNING)
      throw new McpError(
        'overloaded',
        `One caller can have ${MAX_RUNNING} running calls with idempotency keys. Retry when one of them has ended.`,
      );
    this.#running.set(principal, count + 1);
    return () => {
      const remaining = (this.#running.get(principal) ?? 1) - 1;
      if (remaining === 0) this.#running.delete(principal);
      else this.#running.set(principal, remaining);
    };
  }

  /** Aborts the running calls, and waits briefly. The outcome of a handler that ends in that time is still saved. */
  readonly close = async (): Promise<void> => {
    if (this.#open.size === 0) return;
    const reason = new McpError('connection_closed', 'The server is shutting down');
    const open = [...this.#open];
    for (const [lifetime] of open) lifetime.end(reason);
    await settlesWithin(Promise.all(open.map(([, settled]) => settled)), CLOSE_MS);
  };
}
