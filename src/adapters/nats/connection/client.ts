// An open connection to NATS that knows whether it stands, and operations on it whose time is bounded.

import { withRetries } from '../../../async/with-retries.js';
import type { NatsConnection } from './nats-types.js';

/** Hears that the connection is lost, and that it stands again with all its subscriptions. */
export interface ConnectionListener {
  readonly down?: () => void;
  readonly up?: () => void;
}

export interface NatsClientParts {
  /** The servers, for messages. */
  readonly servers: string;
  readonly timeoutMs: number;
  /** Whether `close` closes the connection itself. */
  readonly isOwn: boolean;
}

/** A failure of an operation on NATS, in a sentence for the operator. */
export class NatsFailure extends Error {
  override readonly name = 'NatsFailure';
}

/** A connection to NATS. Operations wait while it reconnects, for a limited time. */
export class NatsClient {
  readonly nc: NatsConnection;
  readonly timeoutMs: number;
  readonly servers: string;
  readonly #isOwn: boolean;
  readonly #listeners = new Set<ConnectionListener>();
  #isUp = true;
  #isClosed = false;
  #flushing: Promise<void> | undefined;
  /** Counts the times that the connection was lost. */
  #losses = 0;

  constructor(nc: NatsConnection, { servers, timeoutMs, isOwn }: NatsClientParts) {
    this.nc = nc;
    this.servers = servers;
    this.timeoutMs = timeoutMs;
    this.#isOwn = isOwn;
    void this.#watch();
  }

  get isUp(): boolean {
    return this.#isUp && !this.#isClosed;
  }

  /** The largest payload that the server accepts, headers included. */
  get maxPayload(): number {
    return this.nc.info?.max_payload ?? 1024 * 1024;
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: ConnectionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the server has processed everything that was sent before. Calls of one turn share a round trip. */
  flush(): Promise<void> {
    this.#flushing ??= Promise.resolve().then(() => {
      this.#flushing = undefined;
      return this.#unlessDown(this.nc.flush());
    });
    return this.#flushing;
  }

  /**
   * Runs `attempt` until it succeeds: again if the connection was lost or nobody answers yet, until the time is over. `what` is
   * the subject of the message: "The event was not stored".
   */
  async persist<T>(what: string, attempt: (leftMs: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.timeoutMs;
    const once = async (): Promise<T> => {
      const leftMs = deadline - performance.now();
      if (!this.isUp) await this.#whenUp(leftMs);
      return this.#within(deadline - performance.now(), this.#unlessDown(attempt(leftMs)));
    };
    const isFinal = (error: unknown): boolean => this.#isClosed || !isTransient(error);
    try {
      return await withRetries(once, { baseMs: 20, maxMs: 250, forMs: this.timeoutMs, isFinal });
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  /** An error that says what failed and why. Errors for mistakes of the caller are returned as they are. */
  failure(what: string, error: unknown): Error {
    if (error instanceof RangeError || error instanceof TypeError || error instanceof NatsFailure)
      return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new NatsFailure(`${what}: ${reason.replace(/\.$/, '')} (NATS at ${this.servers}).`, {
      cause: error,
    });
  }

  /** Closes the connection, unless it is the program's own. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { down } of [...this.#listeners]) down?.();
    this.#listeners.clear();
    if (this.#isOwn) await this.nc.close().catch(() => undefined);
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.nc.status()) {
      if (type === 'disconnect' || type === 'close') this.#onDown();
      else if (type === 'reconnect') void this.#onReconnect(this.#losses);
    }
    this.#onDown();
  }

  #onDown(): void {
    this.#losses++;
    if (!this.#isUp) return;
    this.#isUp = false;
    for (const { down } of [...this.#listeners]) down?.();
  }

  // The subscriptions are sent after the socket is open. Messages that are published before they arrive are missed, so the connection does
  // not count as standing before the server has answered.
  async #onReconnect(losses: number): Promise<void> {
    try {
      await this.nc.flush();
    } catch {
      return; // It was lost again.
    }
    if (losses !== this.#losses || this.#isClosed) return;
    this.#isUp = true;
    for (const { up } of [...this.#listeners]) up?.();
  }

  #whenUp(ms: number): Promise<void> {
    return this.#within(
      ms,
      new Promise((resolve, reject) => {
        const forget = this.listen({
          up: () => {
            forget();
            resolve();
          },
          down: () => {
            forget();
            reject(closed());
          },
        });
      }),
    );
  }

  /** Settles as `promise` does, or rejects when the connection is lost: the client of NATS would wait for its timeout. */
  #unlessDown<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.listen({ down: () => reject(new ConnectionLost('the connection was lost')) });
      void promise.then(resolve, reject).finally(forget);
    });
  }

  #within<T>(ms: number, promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void =>
        reject(new NatsLate(this.isUp ? `no answer within ${this.timeoutMs} ms` : 'not connected'));
      const timer = setTimeout(late, Math.max(0, ms));
      void promise.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** The server is not ready yet: the same attempt may succeed a little later. */
export class NatsNotReady extends Error {}

class ConnectionLost extends Error {}
class NatsLate extends Error {}

function closed(): Error {
  return new ConnectionLost('the connection is closed');
}

/** Errors after which the same attempt may succeed: a server that restarts answers before JetStream does. */
const transientNames = ['TimeoutError', 'NoRespondersError', 'JetStreamNotEnabled', 'ConnectionError'];
const UNAVAILABLE = 503;

function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof NatsNotReady) return true;
  if (!(error instanceof Error)) return false;
  const { name, cause } = error;
  if (transientNames.includes(name) || (cause instanceof Error && transientNames.includes(cause.name)))
    return true;
  if (name === 'RequestError') return true;
  return (error as { readonly status?: number }).status === UNAVAILABLE;
}
