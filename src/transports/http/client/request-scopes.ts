import { hasEnded, Lifetime, onEnd, type WithSignal } from '../../../async/lifetime.js';
import { ByNumber } from '../../../jsonrpc/by-number.js';
import { cancelledBy, type McpError } from '../../../protocol/errors.js';

/** The time during which a request may use the network. */
export class RequestScope extends Lifetime {
  readonly id: number;
  rest: Promise<unknown> | undefined;

  constructor(id: number) {
    super();
    this.id = id;
  }

  /** Extends the scope beyond the response, for the rest of a stream. */
  extend(rest: Promise<unknown>): void {
    this.rest = rest;
  }
}

/** The scopes of all open requests, so that closing ends them all. */
export class RequestScopes {
  readonly #open = new ByNumber<RequestScope>();
  #closed: McpError | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Runs `work` until it ends or the call does. If the call ends first, this rejects without waiting for the network. */
  run<T>(call: WithSignal, work: (scope: RequestScope) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (hasEnded(call)) return Promise.reject(cancelledBy(call.signal.reason));
    const scope = new RequestScope(this.#open.next());
    this.#open.add(scope);
    const unlisten = onEnd(call, () => scope.end(call.signal.reason));
    return new Promise((resolve, reject) => {
      const release = (): void => {
        unlisten();
        if (scope.rest === undefined) this.#open.delete(scope);
        else void scope.rest.finally(() => this.#open.delete(scope));
      };
      scope.onEnd(() => {
        release();
        reject(cancelledBy(scope.signal.reason));
      });
      work(scope).then(
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
    for (const scope of this.#open.all()) scope.end(reason);
  }
}
