// `testClient`: a client of a server, without a port or a process.

import { clientKeys } from '../client/checks/option-keys.js';
import { createClient } from '../client/create-client.js';
import type { Client } from '../client/model/client.js';
import type { ClientOptions } from '../client/model/options.js';
import type { Auth, Dispatch } from '../protocol/call.js';
import { toAuth } from '../protocol/caller.js';
import { checkOptions, type KeysOf } from '../protocol/checks/known-keys.js';
import type { Revision } from '../protocol/tables/revisions.js';
import type { HeaderValues } from '../transports/http/client/options.js';
import { type TestHandlers, toHandlers } from './answers.js';
import { type FaultPlan, type Faults, startFaults } from './faults/faults.js';
import { serveInMemory } from './serving.js';
import { type TestTransport, wireFor } from './wires.js';

/** The subject of a test: a server, or any other object with a `dispatch`. */
export interface TestedServer {
  /** Handles calls. */
  readonly dispatch: Dispatch;
  /** Receives a secret to seal state with. A server that already has a secret ignores it. */
  readonly provideSecret?: (secret: string) => void;
}

/** The options of `testClient`: those of a client, and those of the test. */
export interface TestClientOptions extends Omit<ClientOptions, 'caller'> {
  /** The transport. Default: `in-process`; with `headers`: `http`; with `revision`: the first of `wires` with that revision. */
  readonly over?: TestTransport['over'];
  /** The protocol revision. Default: the newest that the transport carries. */
  readonly revision?: Revision;
  /** The authenticated caller. Default: anonymous. Default of its `subject`: `test`. */
  readonly caller?: Partial<Auth>;
  /** Headers for every request. `stdio` and `in-process` have no headers: with those, `testClient` throws a `TypeError`. */
  readonly headers?: HeaderValues;
  /** Answers to the server's questions, by key. Other questions go to the client's handlers. */
  readonly answers?: TestHandlers;
  /** Faults of the network: a plan, or faults from `startFaults`. With `in-process`, `testClient` throws a `TypeError`. */
  readonly faults?: FaultPlan | Faults;
  /** Aborts the attempt to connect. */
  readonly signal?: AbortSignal;
  /** The time limit for connecting, in milliseconds. After it, `testClient` fails with `timeout`. Default: 30 s. */
  readonly connectTimeoutMs?: number;
}

const { caller: _, ...sharedKeys } = clientKeys;
const optionKeys = {
  ...sharedKeys,
  over: true,
  revision: true,
  caller: true,
  headers: true,
  answers: true,
  faults: true,
  signal: true,
  connectTimeoutMs: true,
} satisfies KeysOf<TestClientOptions>;

/**
 * Connects a client to this server, without a port or a process. Over every transport but `in-process`, all of the transport's
 * code runs; only the socket or the process is replaced.
 * @example
 * ```ts
 * const greet = tool({ description: 'Greets.', run: () => 'hello' });
 * const server = createServer({ name: 'greeter', version: '1.0.0', tools: { greet } });
 * await using client = await testClient(server, { caller: { subject: 'alice' } });
 * assert.equal(await client.tool.greet(), 'hello');
 * ```
 */
export async function testClient<S extends TestedServer>(
  server: S,
  options: TestClientOptions = {},
): Promise<Client<S>> {
  checkOptions('testClient', options, optionKeys, {
    as: 'caller',
    auth: 'caller',
    user: 'caller',
    timeout: 'timeoutMs',
  });
  const { over, revision, caller, headers, answers, faults, signal, connectTimeoutMs, ...rest } = options;
  const wire = wireFor(over ?? (headers && 'http'), revision);
  // Sealed state need not outlive the test, so any secret will do.
  server.provideSecret?.(randomSecret());
  const serving = serveInMemory(asCaller(caller, server.dispatch), {
    wire,
    faults: faults && startFaults(faults),
    headers,
  });
  const client = await createClient({
    open: serving.open,
    target: `a test server over ${wire.name}`,
    // As in `connect`: a server in the same process answers as fast as a cache.
    options: { cache: wire.over !== 'in-process', ...rest, ...(answers && toHandlers(answers, rest)) },
    signal,
    connectTimeoutMs,
  }).catch(async (error) => {
    await serving.close();
    throw error;
  });
  return closingBoth(client, serving.close) as Client<S>;
}

/** A secret for a server that is gone when its test ends. */
export function randomSecret(): string {
  return `${crypto.randomUUID()}${crypto.randomUUID()}`;
}

function asCaller(caller: Partial<Auth> | undefined, dispatch: Dispatch): Dispatch {
  if (caller === undefined) return dispatch;
  const auth = toAuth({ subject: 'test', ...caller }, 'caller');
  return function dispatchAsCaller(call) {
    return dispatch({ ...call, auth });
  };
}

// The client becomes the prototype, so that its getters still read its current state.
function closingBoth(client: Client, closeServing: () => Promise<void>): Client {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= client.close().then(closeServing);
    return closing;
  };
  client.on('status', ({ status }) => {
    if (status === 'closed') void close();
  });
  return Object.create(client, {
    close: { value: close },
    [Symbol.asyncDispose]: { value: close },
  }) as Client;
}
