// `testClient`: a client of a server, without a port or a process.

import { clientTable } from '../../client/checks/option-tables.js';
import { createClient } from '../../client/create-client.js';
import type { Client } from '../../client/model/client.js';
import type { ClientOptions } from '../../client/model/options.js';
import type { Auth, Dispatch } from '../../protocol/call.js';
import { toAuth } from '../../protocol/caller.js';
import { checkOptions, type OptionTable } from '../../protocol/checks/options.js';
import { copyCall } from '../../protocol/direct.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { HeaderValues, HttpLinkOptions } from '../../transports/http/client/options.js';
import { type FaultPlan, type Faults, startFaults } from '../faults/faults.js';
import { type TestHandlers, toHandlers } from './answers.js';
import { type CollectEvents, collecting } from './collected-events.js';
import { type ReceivedNotification, ReceivedRecord } from './received-record.js';
import { serveInMemory } from './serving.js';
import { type TestTransport, wireFor } from './wires.js';

/** The subject of a test: a server, or any other object with a `dispatch`. */
export interface TestedServer {
  /** Handles calls. */
  readonly dispatch: Dispatch;
  /** Receives a secret to seal state with. A server that already has a secret ignores it. */
  readonly provideSecret?: (secret: string) => void;
}

// Not an interface that extends the client: a function that takes any client would not accept it.
/** A client for a test: it also has the notifications that it received. */
export type TestClient<S = unknown> = Client<S> &
  Receiving & {
    /**
     * Subscribes to a type of events, as `client.on` does, and keeps what arrives: `await events.next()` is the next event. Default of
     * `args`: none.
     */
    readonly collect: CollectEvents<S>;
  };

/** The notifications that a client for a test has received. */
export interface Receiving {
  /**
   * All notifications so far, in order, with log messages and progress; the oldest of more than 10,000 are dropped. Empty the
   * array to forget them.
   */
  readonly received: ReceivedNotification[];
  /**
   * Resolves when everything has arrived that the server had sent when this was called: afterwards, a notification that is not in
   * `received` was not sent. Makes a round trip, and sends a marker down each stream of changes; nothing waits for a time to pass.
   */
  readonly settled: () => Promise<void>;
}

/** The options of `testClient`: those of a client, and those of the test. */
export interface TestClientOptions extends Omit<ClientOptions, 'caller'> {
  /** The transport. Default: `in-process`; with `headers`: `http`; with `revision`: the first of `wires` with that revision. */
  readonly over?: TestTransport['over'];
  /** The protocol revision. Default: the newest that the transport carries. */
  readonly revision?: Revision;
  /** The authenticated caller. Default: anonymous. Default of its `subject`: `test`. The `auth` of the server is not used. */
  readonly caller?: Partial<Auth>;
  /**
   * The credentials of the client, as in `connect`: a bearer token, a function that returns one, or a login. The `auth` of the
   * server checks them, over `http` and `http+sse`. `true`: the credentials are in `headers`. Not together with `caller`.
   */
  readonly auth?: HttpLinkOptions['auth'] | true;
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

const optionTable: OptionTable<TestClientOptions> = {
  ...clientTable,
  over: 'any',
  revision: 'any',
  caller: 'any',
  auth: 'any',
  headers: 'any',
  answers: 'object',
  faults: 'any',
  signal: 'any',
  connectTimeoutMs: 'ms',
};

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
): Promise<TestClient<S>> {
  checkOptions('testClient', options, optionTable, {
    as: 'caller',
    token: 'auth',
    user: 'caller',
    timeout: 'timeoutMs',
  });
  const { over, revision, caller, auth, headers, answers, faults, signal, connectTimeoutMs, ...rest } =
    options;
  const wire = wireFor(over ?? ((headers ?? auth) === undefined ? undefined : 'http'), revision);
  if (auth !== undefined) checkAuth(server, options);
  // Sealed state need not outlive the test, so any secret will do.
  server.provideSecret?.(randomSecret());
  const record = new ReceivedRecord();
  const dispatch = record.observe(asCaller(caller, server.dispatch));
  const serving = serveInMemory(auth === undefined ? { dispatch } : { ...server, dispatch }, {
    wire,
    faults: faults && startFaults(faults),
    headers,
    auth: auth === true ? undefined : auth,
  });
  const client = await createClient({
    open: serving.open,
    target: `a test server over ${wire.name}`,
    // As in `connect`: a server in the same process answers as fast as a cache.
    options: {
      cache: wire.over !== 'in-process',
      ...rest,
      ...(answers && toHandlers(answers, rest)),
      progress(progress, call) {
        record.add('notifications/progress', { ...progress });
        rest.progress?.(progress, call);
      },
    },
    signal,
    connectTimeoutMs,
  }).catch(async (error) => {
    await serving.close();
    throw error;
  });
  record.connect(client);
  return closingBoth(client, record, serving.close) as TestClient<S>;
}

/** Throws unless the server can check credentials. */
function checkAuth(server: TestedServer & { readonly auth?: unknown }, { caller }: TestClientOptions): void {
  if (caller !== undefined)
    throw new TypeError('testClient: pass `caller`, or `auth` for the server to find out who the caller is.');
  if (server.auth === undefined)
    throw new TypeError(
      'testClient: this server has no `auth` that could check the credentials. Pass `caller` instead.',
    );
}

/** A secret for a server that is gone when its test ends. */
export function randomSecret(): string {
  return `${crypto.randomUUID()}${crypto.randomUUID()}`;
}

function asCaller(caller: Partial<Auth> | undefined, dispatch: Dispatch): Dispatch {
  if (caller === undefined) return dispatch;
  const auth = toAuth({ subject: 'test', ...caller }, 'caller');
  return function dispatchAsCaller(call) {
    return dispatch(copyCall(call, { auth }));
  };
}

// The client becomes the prototype, so that its getters still read its current state.
function closingBoth(client: Client, record: ReceivedRecord, closeServing: () => Promise<void>): Client {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= client.close().then(closeServing);
    return closing;
  };
  client.on('status', ({ status }) => {
    if (status === 'closed') void close();
  });
  return Object.create(client, {
    received: { value: record.received },
    settled: { value: () => record.settled(client) },
    collect: { value: collecting(client) },
    close: { value: close },
    [Symbol.asyncDispose]: { value: close },
  }) as Client;
}
