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
  );
  if (!McpError.is(error)) throw new Error(`Expected an McpError: ${String(error)}`, { cause: error });
  return error;
}

/** The states that a client goes through from now on. */
export function statuses(client: Client): () => string[] {
  const history: string[] = [];
  client.on('status', ({ status }) => history.push(status));
  return () => history;
}

export interface Cleanup {
  /** Closes a resource at the end of the test, the last one first. */
  readonly closeLater: <T extends { close(): unknown }>(one: T) => T;
  readonly closeAll: () => Promise<void>;
}

export function cleanup(): Cleanup {
  const open: { close(): unknown }[] = [];
  return {
    closeLater(one) {
      open.push(one);
      return one;
    },
    async closeAll() {
      for (const one of open.splice(0).reverse()) await soon('The end', Promise.resolve(one.close()));
    },
  };
}
