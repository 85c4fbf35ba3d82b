// Runs a test over every transport and revision.

import { type TestClient, type TestClientOptions, type TestedServer, testClient } from './test-client.js';
import { carriesHeaders, type TestTransport, wires } from './wires.js';

/**
 * Runs a test over every transport and revision, one after another, each time with a new client. If `server` is a function, it
 * is called for a new server each time. The message of an error begins with the transport and the revision. With `headers`,
 * transports without headers are skipped, with `auth` all but HTTP, and with `faults`, `in-process`.
 * @example
 * ```ts
 * const greet = tool({ description: 'Greets.', run: () => 'hello' });
 * const server = createServer({ name: 'greeter', version: '1.0.0', tools: { greet } });
 * await everyWire(server, async (client) => {
 *   const { text } = await client.callTool('greet');
 *   assert.equal(text, 'hello');
 * });
 * ```
 */
export async function everyWire<S extends TestedServer>(
  server: S | (() => S | Promise<S>),
  run: (client: TestClient<S>, wire: TestTransport) => unknown,
  options: Omit<TestClientOptions, 'over' | 'revision'> = {},
): Promise<void> {
  for (const wire of wires) {
    if (wire.over === 'in-process' && options.faults !== undefined) continue;
    if (options.headers !== undefined && !carriesHeaders(wire)) continue;
    if (options.auth !== undefined && !wire.over.startsWith('http')) continue;
    try {
      await runOver(server, run, { ...options, wire });
    } catch (error) {
      throw withWireName(error, wire);
    }
  }
}

async function runOver<S extends TestedServer>(
  server: S | (() => S | Promise<S>),
  run: (client: TestClient<S>, wire: TestTransport) => unknown,
  { wire, ...options }: TestClientOptions & { readonly wire: TestTransport },
): Promise<void> {
  const { over, revision } = wire;
  const instance = typeof server === 'function' ? await server() : server;
  try {
    await using client = await testClient(instance, { ...options, over, revision });
    await run(client, wire);
  } finally {
    if (typeof server === 'function') await (instance as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
  }
}

// The same error, so that a test runner still shows the expected and the actual value.
function withWireName(error: unknown, { name }: TestTransport): unknown {
  if (!(error instanceof Error)) return new Error(`${name}: ${String(error)}`, { cause: error });
  error.message = `${name}: ${error.message}`;
  return error;
}
