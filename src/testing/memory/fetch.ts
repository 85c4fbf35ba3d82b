// HTTP without a network.

import { unlessAborted } from '../../async/abort.js';
import { bodyOf, withBody } from '../faults/network.js';

/** A `fetch` that calls a handler instead of using a network. It can be aborted at any time, like a real one. */
export function memoryFetch(handler: (request: Request) => Promise<Response>): typeof globalThis.fetch {
  // On Node, a request that is garbage-collected no longer tells its handler that it was aborted.
  const open = new Set<Request>();
  return async function memoryFetch(input, init) {
    const request = new Request(input, init);
    const signal = init?.signal ?? request.signal;
    open.add(request);
    const close = (): boolean => open.delete(request);
    const response = await unlessAborted(handler(request), signal).catch((error) => {
      close();
      throw error;
    });
    if (response.body === null) {
      close();
      return response;
    }
    const reader = response.body.getReader();
    const body = bodyOf(
      async function* chunks() {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          yield value;
        }
        close();
      },
      signal,
      (reason) => {
        close();
        void reader.cancel(reason).catch(() => undefined);
      },
    );
    return withBody(response, body, request.url);
  };
}
