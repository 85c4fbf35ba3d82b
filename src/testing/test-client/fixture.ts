// A client as a fixture of Vitest.

import { type TestClient, type TestClientOptions, type TestedServer, testClient } from './test-client.js';

/** A fixture for `test.extend`: it gives a client to the test, and closes it after the test. */
export type ClientFixture<S> = (
  // biome-ignore lint/complexity/noBannedTypes: the type of a context that the fixture does not use
  context: {},
  use: (client: TestClient<S>) => Promise<void>,
) => Promise<void>;

/**
 * Makes a fixture for Vitest's `test.extend`: each test that asks for it gets a client of its own, which is closed after the test. If
 * `server` is a function, it is called for a new server each time, and that server is closed, too.
 * @example
 * ```ts
 * const test = base.extend({ client: clientFixture(server) });
 * test('the shop has pears', async ({ client }) => {
 *   expect((await client.callTool('price', { item: 'pear' })).text).toBe('2');
 * });
 * ```
 */
export function clientFixture<S extends TestedServer>(
  server: S | (() => S | Promise<S>),
  options: TestClientOptions = {},
): ClientFixture<S> {
  // Vitest reads the names of other fixtures from the source of the function, so the first parameter must be a pattern.
  // biome-ignore lint/correctness/noEmptyPattern: this fixture needs no others
  return async function useClient({}, use) {
    const instance = typeof server === 'function' ? await server() : server;
    try {
      await using client = await testClient(instance, options);
      await use(client);
    } finally {
      if (typeof server === 'function') await (instance as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
    }
  };
}
