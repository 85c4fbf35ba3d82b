import { createClient } from '../client/create-client.js';
import type { Client } from '../client/model.js';
import { clientKeys } from '../client/option-keys.js';
import type { ClientOptions } from '../client/options.js';
import type { Auth, Dispatch } from '../protocol/call.js';
import { toAuth } from '../protocol/caller.js';
import { checkOptions, type KeysOf } from '../protocol/known-keys.js';
import type { Revision } from '../protocol/revisions.js';
import type { HeaderValues } from '../transports/http/client/options.js';
import { answering, type TestAnswers } from './answers.js';
import { type FaultPlan, type Faults, startFaults } from './faults.js';
import { ownSecret } from './secret.js';
import { serveInMemory } from './serving.js';
import { type Over, wireFor } from './wires.js';

/** What can be tested: a server, or anything else that answers calls. */
export interface TestedServer {
  readonly dispatch: Dispatch;
  readonly provideSecret?: (secret: string) => void;
}

export interface TestClientOptions extends Omit<ClientOptions, 'as'> {
  /** What carries the messages. In-process unless told, or whatever has the `revision`. */
  readonly over?: Over;
  /** What the messages are those of. The newest that the wire has unless told. */
  readonly revision?: Revision;
  /** Who calls, as the server sees it. */
  readonly auth?: Partial<Auth>;
  /** Sent with every request. Over HTTP unless told then; stdio and in-process have no headers. */
  readonly headers?: HeaderValues;
  /** What is answered when the server asks, by key. */
  readonly answers?: TestAnswers;
  /** What goes wrong on the way. */
  readonly faults?: FaultPlan | Faults;
  readonly signal?: AbortSignal;
  readonly connectTimeoutMs?: number;
}

const { as: _, ...sharedKeys } = clientKeys;
const optionKeys = {
  ...sharedKeys,
  over: true,
  revision: true,
  auth: true,
  headers: true,
  answers: true,
  faults: true,
  signal: true,
  connectTimeoutMs: true,
} satisfies KeysOf<TestClientOptions>;

/** A client of this server, ready to use: no port, no process. Over a wire, everything but the socket or pipe is real. */
export async function testClient<S extends TestedServer>(
  server: S,
  options: TestClientOptions = {},
): Promise<Client<S>> {
  checkOptions('testClient', options, optionKeys, { as: 'auth', user: 'auth', timeout: 'timeoutMs' });
  const { over, revision, auth, headers, answers, faults, signal, connectTimeoutMs, ...rest } = options;
  const wire = wireFor(over ?? (headers && 'http'), revision);
  // What carries answers need not outlive the test.
  server.provideSecret?.(ownSecret());
  const serving = serveInMemory(as(auth, server.dispatch), {
    wire,
    faults: faults && startFaults(faults),
    headers,
  });
  const client = await createClient({
    open: serving.open,
    target: `a test server over ${wire.name}`,
    // As `connect` has it: a server in the same process is as near as a cache.
    options: { cache: wire.over !== 'in-process', ...rest, ...(answers && answering(answers, rest)) },
    signal,
    connectTimeoutMs,
  }).catch(async (error) => {
    await serving.close();
    throw error;
  });
  return closingBoth(client, serving.close) as Client<S>;
}

function as(auth: Partial<Auth> | undefined, dispatch: Dispatch): Dispatch {
  if (auth === undefined) return dispatch;
  const whole = toAuth({ subject: 'test', ...auth });
  return function asCaller(call) {
    return dispatch({ ...call, auth: whole });
  };
}

// The client's own members read its state when they are asked: a copy of them would be of one moment.
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
