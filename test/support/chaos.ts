import { z } from 'zod';
import { type Client, type ConnectOptions, McpError } from '../../src/client.js';
import { createServer, resource, type Server, tool } from '../../src/index.js';
import {
  type FaultPlan,
  type Faults,
  randomPlan,
  startFaults,
  testClient,
  type wires,
} from '../../src/testing.js';
import { soon, until } from './until.js';

// One client on a network that fails, and the rules that it must keep.

export type Wire = (typeof wires)[number];

const TIMEOUT_MS = 200;
const MAX_TIMEOUT_MS = 400;
/** The limit for any call, however busy the process. */
const BOUND_MS = 10_000;
/** How many calls may fail after the faults have stopped, and the timeout of each. */
const TRIES = 8;
const CALM_TIMEOUT_MS = 5000;

const text = z.object({ value: z.string() });

/** Every result of the server can be derived from the arguments of the call. */
export function echoServer(): Server {
  const server = createServer({
    name: 'chaos',
    version: '1.0.0',
    changes: true,
    logger: () => undefined,
    tools: {
      echo: tool({
        input: text,
        async run({ value }, ctx) {
          for (let step = 1; step <= 3; step++) {
            ctx.progress(step, 3, value);
            server.changed.resource(noteOf(value));
            await new Promise((resolve) => setImmediate(resolve));
          }
          return `echo ${value}`;
        },
      }),
      ask: tool({
        input: text,
        async run({ value }, ctx) {
          const { content } = await ctx.sample('word', { messages: value, maxTokens: 10 });
          return `asked ${value} ${JSON.stringify(content)}`;
        },
      }),
      wait: tool({
        run: (_, { signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))),
      }),
    },
    resources: { 'note://{id}': resource({ read: ({ id }) => `note ${id}` }) },
  }) as Server;
  return server;
}

/** The resource that changes with each call of a schedule, whose values begin with its seed. */
function noteOf(value: string): string {
  return `note://${value.split('-')[0]}`;
}

/** The summary of a schedule that passed. */
export interface Survival {
  readonly results: number;
  readonly errors: number;
  readonly faults: number;
  /** Whether the client had closed itself. */
  readonly closed: boolean;
}

export interface Schedule {
  readonly server: Server;
  readonly wire: Wire;
  readonly seed: number;
}

/** Runs one schedule of faults. Throws if the client breaks a rule; the message says how to repeat the schedule. */
export async function surviveFaults({ server, wire, seed }: Schedule): Promise<Survival> {
  // Some faults occur while connecting, most during calls.
  const faults = startFaults({ ...randomPlan(seed), after: seed % 8 });
  try {
    return await survive(server, wire, faults);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const events = faults.events.map((it) => `${it.direction} ${it.message} ${it.fault}`).join(', ');
    throw new Error(
      `CHAOS_SEED=${seed} over ${wire.name}: ${reason}\nThe plan: ${JSON.stringify(faults.plan)}\nThe faults: ${events}`,
      { cause: error },
    );
  }
}

async function survive(server: Server, wire: Wire, faults: Faults): Promise<Survival> {
  const client = await openClient(server, wire, faults);
  const calls = new Calls(client, faults.plan);
  const uri = noteOf(`${faults.plan.seed}`);
  let changes = 0;
  const onChange = (): void => {
    changes += 1;
  };
  const subscribing = calls.make(
    'subscribe',
    () => client.subscribe(uri, { onChange }),
    () => true,
  );
  calls.makeSome();
  await calls.all();
  calls.makeSome();
  await calls.all();
  faults.stop();
  await calls.all();
  const subscription = await subscribing;
  // A request that was cut off is rejected, so nothing is acknowledged.
  const isAcknowledged = subscription?.accepted.uris !== undefined && !canLie(faults.plan);
  if (isAcknowledged && client.status !== 'closed' && !resubscribesLate(wire, faults.plan)) {
    changes = 0;
    // An acknowledged subscription is kept, whatever has happened since. But a message that was delayed before the faults
    // stopped may still break the connection, and a client that does not reconnect is closed then.
    await until(
      'the subscription reports a change, or the client is closed',
      () => {
        if (changes === 0) server.changed.resource(uri);
        return changes > 0 || client.status === 'closed';
      },
      BOUND_MS,
    );
  }
  await soon('the end of the subscription', Promise.resolve(subscription?.close()), BOUND_MS);
  await until('no call is pending', () => client.pending().length === 0, BOUND_MS);
  const { status } = client;
  if (status !== 'closed') await expectUsable(client);
  await soon('the end of the client', client.close(), BOUND_MS);
  await expectClosed(client);
  return { ...calls.counts, faults: faults.events.length, closed: status === 'closed' };
}

/** Garbled messages can be valid with another meaning, so their contents prove nothing. */
function canLie({ garble = 0 }: FaultPlan): boolean {
  return garble > 0;
}

/** Most clients reconnect forever; some never do, and some give up after two attempts. */
function reconnectOptions({ seed }: FaultPlan): NonNullable<ConnectOptions['reconnect']> {
  const pauses = { baseMs: 5, maxMs: 40 };
  if (seed % 5 === 0) return false;
  return seed % 5 === 1 ? { ...pauses, maxAttempts: 2 } : pauses;
}

/** In a session, a lost subscription is sent again after ten seconds: longer than this test waits. */
function resubscribesLate({ revision }: Wire, { drop = 0, truncate = 0 }: FaultPlan): boolean {
  return revision !== '2026-07-28' && drop + truncate > 0;
}

async function openClient(server: Server, { over, revision }: Wire, faults: Faults): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    if (attempt > 3) faults.stop();
    try {
      return await soon(
        'The connection',
        testClient(server, {
          over,
          revision,
          faults,
          sample: () => ({ role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'test' }),
          timeoutMs: TIMEOUT_MS,
          maxTimeoutMs: MAX_TIMEOUT_MS,
          connectTimeoutMs: MAX_TIMEOUT_MS,
          reconnect: reconnectOptions(faults.plan),
        }),
        BOUND_MS,
      );
    } catch (error) {
      if (!McpError.is(error) || attempt > 6) throw error;
    }
  }
}

/** The calls of one schedule, each of which ends once. */
class Calls {
  readonly counts = { results: 0, errors: 0 };
  readonly #client: Client;
  readonly #plan: FaultPlan;
  readonly #late: string[] = [];
  #open: Promise<unknown>[] = [];
  #count = 0;

  constructor(client: Client, plan: FaultPlan) {
    this.#client = client;
    this.#plan = plan;
  }

  makeSome(): void {
    const client = this.#client;
    const value = `${this.#plan.seed}-${++this.#count}`;
    let ended = false;
    const onProgress = (): void => {
      if (ended) this.#late.push(value);
    };
    const echo = this.make(
      'echo',
      () => client.callTool('echo', { value }, { onProgress }),
      (result) => result.text === `echo ${value}`,
    );
    void echo.then(() => {
      ended = true;
    });
    this.make(
      'ask',
      () => client.callTool('ask', { value }),
      (result) => result.text.startsWith(`asked ${value} `) && result.text.includes('yes'),
    );
    this.make(
      'list',
      () => client.tools().all(),
      (tools) => tools.map(({ name }) => name).join() === 'echo,ask,wait',
    );
    this.make(
      'read',
      () => client.readResource(`note://${value}`),
      (read) => read.text === `note ${value}`,
    );
    this.make(
      'ping',
      () => client.ping(),
      (ms) => ms >= 0,
    );
    const giveUp = new AbortController();
    this.make(
      'wait',
      () => client.callTool('wait', {}, { signal: giveUp.signal }),
      () => false,
    );
    setTimeout(() => giveUp.abort(), this.#plan.seed % 30);
  }

  /** Makes a call. Returns undefined if it failed. */
  async make<T>(
    name: string,
    call: () => Promise<T>,
    isRight: (value: T) => boolean,
  ): Promise<T | undefined> {
    const ending = this.#end(name, call, isRight);
    this.#open.push(ending);
    // `all` throws the error.
    return ending.catch(() => undefined);
  }

  async #end<T>(
    name: string,
    call: () => Promise<T>,
    isRight: (value: T) => boolean,
  ): Promise<T | undefined> {
    let value: T;
    try {
      value = await soon(`The end of ${name}`, call(), BOUND_MS);
    } catch (error) {
      if (!McpError.is(error)) throw error;
      this.counts.errors += 1;
      return undefined;
    }
    if (!isRight(value) && !canLie(this.#plan))
      throw new Error(`${name} has a wrong result: ${JSON.stringify(value)}`);
    this.counts.results += 1;
    return value;
  }

  async all(): Promise<void> {
    await Promise.all(this.#open.splice(0));
    if (this.#late.length > 0) throw new Error(`Progress came after the result of ${this.#late.join(', ')}`);
  }
}

async function expectUsable(client: Client): Promise<void> {
  const failures: string[] = [];
  while (failures.length < TRIES) {
    if (client.status === 'closed') return;
    try {
      const value = `after ${failures.length}`;
      const limits = { timeoutMs: CALM_TIMEOUT_MS, maxTimeoutMs: CALM_TIMEOUT_MS };
      const result = await soon(
        'The end of a call without faults',
        client.callTool('echo', { value }, limits),
        BOUND_MS,
      );
      if (result.text !== `echo ${value}`) throw new Error(`A wrong result without faults: ${result.text}`);
      return;
    } catch (error) {
      if (!McpError.is(error)) throw error;
      failures.push(`${error.code}: ${error.message}`);
    }
  }
  throw new Error(
    `The client is ${client.status}, but its calls still fail: ${[...new Set(failures)].join('; ')}`,
  );
}

async function expectClosed(client: Client): Promise<void> {
  const late = await client.ping().catch((error: unknown) => error);
  const code = McpError.is(late) ? late.code : 'no error';
  if (client.status !== 'closed' || code !== 'connection_closed' || client.pending().length > 0)
    throw new Error(`The client was closed and is ${client.status}; a call fails with ${code}`);
}
