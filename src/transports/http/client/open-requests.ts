import { cancelledBy, type McpError } from '../../../protocol/errors.js';
import { hasEnded, onEnd, type WithSignal } from '../../../protocol/lifetime.js';

/** How long a request may use the network. */
export interface Lease {
  readonly signal: AbortSignal;
  /** Prolongs it beyond the answer, for the rest of a stream. */
  readonly after: (rest: Promise<unknown>) => void;
}

/** The requests that are open, each with a signal of its own, so that closing ends them all. */
export class OpenRequests {
  readonly #open = new Set<AbortController>();
  #closed: McpError | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Runs `work` until it ends or the call does. Ends then, whatever `fetch` makes of it. */
  run<T>(call: WithSignal, work: (lease: Lease) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (hasEnded(call)) return Promise.reject(cancelledBy(call.signal.reason));
    const controller = new AbortController();
    let rest: Promise<unknown> | undefined;
    const end = (): void => {
      unlisten();
      if (rest === undefined) this.#open.delete(controller);
      else void rest.finally(() => this.#open.delete(controller));
    };
    this.#open.add(controller);
    const unlisten = onEnd(call, () => controller.abort(call.signal.reason));
    return new Promise((resolve, reject) => {
      controller.signal.addEventListener('abort', () => {
        end();
        reject(cancelledBy(controller.signal.reason));
      });
      work({
        signal: controller.signal,
        after: (promise) => {
          rest = promise;
        },
      }).then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }

  close(reason: McpError): void {
    this.#closed ??= reason;
    for (const controller of this.#open) controller.abort(reason);
    this.#open.clear();
  }
}
