import { settlesWithin } from '../../async/deadline.js';
import { hasEnded, Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';

/** What one caller may have running. They outlive their connections, so that no connection's limit holds them. */
const MAX_RUNNING = 1000;
/** How long handlers may take to end when the server closes. */
const CLOSE_MS = 2000;

/**
 * The calls with an idempotency key that are running. Each has a lifetime of its own: a client that lost its connection will
 * call again with the same key, and gets the outcome then. Only a cancellation, a time limit or a shutdown aborts the call.
 */
export class KeyedCalls {
  readonly #open = new Map<Lifetime, Promise<unknown>>();
  readonly #running = new Map<string, number>();

  /** Does the work for a call, with the call as it is without its connection, and the lifetime that it has instead. */
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

  /** Counts a call of the caller's, which runs or waits for another with its key, until the function that is returned is called. */
  enter(call: Call): () => void {
    const principal = principalOf(call);
    const count = this.#running.get(principal) ?? 0;
    if (count >= MAX_RUNNING)
      throw new McpError(
        'overloaded',
        `One caller can have ${MAX_RUNNING} calls with idempotency keys running`,
      );
    this.#running.set(principal, count + 1);
    return () => {
      const remaining = (this.#running.get(principal) ?? 1) - 1;
      if (remaining === 0) this.#running.delete(principal);
      else this.#running.set(principal, remaining);
    };
  }

  /** Aborts what runs. A handler that ends in time may still have an outcome, which is kept. */
  readonly close = async (): Promise<void> => {
    if (this.#open.size === 0) return;
    const why = new McpError('connection_closed', 'The server is shutting down');
    const open = [...this.#open];
    for (const [lifetime] of open) lifetime.end(why);
    await settlesWithin(Promise.all(open.map(([, ended]) => ended)), CLOSE_MS);
  };
}
