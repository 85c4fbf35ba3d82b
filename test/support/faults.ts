import { type Client, McpError } from '../../src/client.js';
import { soon } from './until.js';

/** The error that the promise soon rejects with. */
export async function failure(promise: Promise<unknown>): Promise<McpError> {
  const error = await soon(
    'The failure',
    promise.then(
      () => 'no failure',
      (thrown: unknown) => thrown,
    ),
    15_000,
  );
  if (!McpError.is(error))
    throw new Error(`It did not fail as it should: ${String(error)}`, { cause: error });
  return error;
}

/** How long the work took. */
export async function timed<T>(promise: Promise<T>): Promise<{ readonly error: T; readonly ms: number }> {
  const begun = performance.now();
  const error = await promise;
  return { error, ms: performance.now() - begun };
}

/** The states that a client goes through from now on. */
export function statuses(client: Client): () => string[] {
  const seen: string[] = [];
  client.on('status', ({ status }) => seen.push(status));
  return () => seen;
}

export interface Closing {
  /** Closes a resource at the end of the test, the last one first. */
  readonly opened: <T extends { close(): unknown }>(one: T) => T;
  readonly closeAll: () => Promise<void>;
}

export function closing(): Closing {
  const open: { close(): unknown }[] = [];
  return {
    opened(one) {
      open.push(one);
      return one;
    },
    async closeAll() {
      for (const one of open.splice(0).reverse()) await soon('The end', Promise.resolve(one.close()), 10_000);
    },
  };
}
