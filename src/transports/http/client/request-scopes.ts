import { hasEnded, Lifetime, onEnd, type WithSignal } from '../../../async/lifetime.js';
import { ByNumber } from '../../../jsonrpc/by-number.js';
import { cancelledBy, type McpError } from '../../../protocol/errors.js';

/** How long a request may use the network. */
export class Lease extends Lifetime {
  readonly id: number;
  rest: Promise<unknown> | undefined;

  constructor(id: number) {
    super();
    this.id = id;
  }

  /** Prolongs it beyond the answer, for the rest of a stream. */
  after(rest: Promise<unknown>): void {
    this.rest = rest;
  }
}

/** The requests that are open, each with a lease of its own, so that closing ends them all. */
export class OpenRequests {
  readonly #open = new ByNumber<Lease>();
  #closed: McpError | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Runs `work` until it ends or the call does. Ends then, whatever the network makes of it. */
  run<T>(call: WithSignal, work: (lease: Lease) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (hasEnded(call)) return Promise.reject(cancelledBy(call.signal.reason));
    const lease = new Lease(this.#open.next());
    this.#open.add(lease);
    const unlisten = onEnd(call, () => lease.end(call.signal.reason));
    return new Promise((resolve, reject) => {
      const release = (): void => {
        unlisten();
        if (lease.rest === undefined) this.#open.delete(lease);
        else void lease.rest.finally(() => this.#open.delete(lease));
      };
      lease.onEnd(() => {
        release();
        reject(cancelledBy(lease.signal.reason));
      });
      work(lease).then(
        (value) => {
          release();
          resolve(value);
        },
        (error: unknown) => {
          release();
          reject(error);
        },
      );
    });
  }

  close(reason: McpError): void {
    this.#closed ??= reason;
    for (const lease of this.#open.all()) lease.end(reason);
  }
}
