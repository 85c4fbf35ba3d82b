// Runs a test over every transport and revision.

import type { Client } from '../client/model/client.js';
import { type TestClientOptions, type TestedServer, testClient } from './test-client.js';
import { carriesHeaders, type TestTransport, wires } from './wires.js';

/**
 * Runs a test over every transport and revision, one after another, each with a client of its own. A function as `server` makes
 * a new server for each. The message of an error begins with the transport and revision. With `headers` only transports that
 * carry headers are used, and with `faults` only those that can fail.
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
  run: (client: Client<S>, wire: TestTransport) => unknown,
  options: Omit<TestClientOptions, 'over' | 'revision'> = {},
): Promise<void> {
  for (const wire of wires) {
    if (wire.over === 'in-process' && options.faults !== undefined) continue;
    if (options.headers !== undefined && !carriesHeaders(wire)) continue;
    try {
      await overOne(server, run, { ...options, wire });
    } catch (error) {
      throw named(error, wire);
    }
  }
}

async function overOne<S extends TestedServer>(
  server: S | (() => S | Promise<S>),
  run: (client: Client<S>, wire: TestTransport) => unknown,
  { wire, ...options }: TestClientOptions & { readonly wire: TestTransport },
): Promise<void> {
  const { over, revision } = wire;
  const made = typeof server === 'function' ? await server() : server;
  try {
    await using client = await testClient(made, { ...options, over, revision });
    await run(client, wire);
  } finally {
    if (typeof server === 'function') await (made as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
  }
}

// The error itself, so that a test runner still shows what was expected and what came.
function named(error: unknown, { name }: TestTransport): unknown {
  if (!(error instanceof Error)) return new Error(`${name}: ${String(error)}`, { cause: error });
  error.message = `${name}: ${error.message}`;
  return error;
}
