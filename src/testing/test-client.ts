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
import { answering, type TestHandlers } from './answers.js';
import { type FaultPlan, type Faults, startFaults } from './faults/faults.js';
import { ownSecret } from './secret.js';
import { serveInMemory } from './serving.js';
import { type TestTransport, wireFor } from './wires.js';

/** Anything that can be tested: a server, or any other object that answers calls. */
export interface TestedServer {
  /** Answers calls. */
  readonly dispatch: Dispatch;
  /** Takes a secret for sealing state, when the server has none. */
  readonly provideSecret?: (secret: string) => void;
}

/** The options of `testClient`: those of a client, and those of the test. */
export interface TestClientOptions extends Omit<ClientOptions, 'caller'> {
  /** The transport. Default: `in-process`; `http` with `headers`; with a `revision`, the first transport that has it. */
  readonly over?: TestTransport['over'];
  /** The protocol revision. Default: the newest that the transport carries. */
  readonly revision?: Revision;
  /** The authenticated caller as the server sees it. Default of `subject`: `test`. */
  readonly caller?: Partial<Auth>;
  /** Headers for every request. With a transport that has none (`stdio`, `in-process`) they are an error. */
  readonly headers?: HeaderValues;
  /** Answers to the server's questions, by key. Other questions go to the handlers. */
  readonly answers?: TestHandlers;
  /** The faults of the network: a plan, or started faults. In-process they are an error. */
  readonly faults?: FaultPlan | Faults;
  /** Stops connecting. */
  readonly signal?: AbortSignal;
  /** The longest time to connect, in milliseconds; then `testClient` fails with `timeout`. Default: 30 s. */
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
 * Makes a client of this server, ready to use, without a port or a process. Over a transport other than `in-process`,
 * everything but the socket or pipe is real.
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
  server.provideSecret?.(ownSecret());
  const serving = serveInMemory(asCaller(caller, server.dispatch), {
    wire,
    faults: faults && startFaults(faults),
    headers,
  });
  const client = await createClient({
    open: serving.open,
    target: `a test server over ${wire.name}`,
    // As in `connect`: a server in the same process answers as fast as a cache.
    options: { cache: wire.over !== 'in-process', ...rest, ...(answers && answering(answers, rest)) },
    signal,
    connectTimeoutMs,
  }).catch(async (error) => {
    await serving.close();
    throw error;
  });
  return closingBoth(client, serving.close) as Client<S>;
}

function asCaller(caller: Partial<Auth> | undefined, dispatch: Dispatch): Dispatch {
  if (caller === undefined) return dispatch;
  const auth = toAuth({ subject: 'test', ...caller }, 'caller');
  return function dispatchAsCaller(call) {
    return dispatch({ ...call, auth });
  };
}

// The client's getters read its current state, so they are kept as getters: copied values would become stale.
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
