// The results of tasks as the server sent them: the client gives only what it made of them.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Middleware } from '../../../protocol/call.js';
import type { Scope } from '../../wiretap/seen.js';

const MAX_KEPT = 200;

export class TaskResults {
  readonly #results = new Map<number, JsonObject>();

  /** Middleware that looks at what `tasks/get` returns. */
  middleware(scope: () => Scope): Middleware {
    return async (call, next) => {
      const outcome = await next(call);
      const { result } = outcome;
      if (call.method === 'tasks/get' && isObject(result)) this.#keep(scope().story, result);
      return outcome;
    };
  }

  /** The result of a story's task. It is given once. */
  take(story: number): JsonObject | undefined {
    const result = this.#results.get(story);
    this.#results.delete(story);
    return result;
  }

  #keep(story: number, result: JsonObject): void {
    this.#results.set(story, result);
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= MAX_KEPT) return;
      this.#results.delete(oldest);
    }
  }
}
