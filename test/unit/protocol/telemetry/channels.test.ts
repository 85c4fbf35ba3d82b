import diagnostics from 'node:diagnostics_channel';
import { createServer, type Middleware, resource, type TraceEvents, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';

type Phase = 'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error';

/** Listens to a channel. Returns the messages so far, each with its phase. */
function listen<Subject extends keyof TraceEvents>(
  subject: Subject,
): { readonly phase: Phase; readonly event: TraceEvents[Subject] }[] {
  const seen: { phase: Phase; event: TraceEvents[Subject] }[] = [];
  for (const phase of ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const) {
    const name = `tracing:fullmcp:${subject}:${phase}`;
    const listener = (event: unknown): void => {
      seen.push({ phase, event: event as TraceEvents[Subject] });
    };
    diagnostics.subscribe(name, listener);
    onTestFinished(() => void diagnostics.unsubscribe(name, listener));
  }
  return seen;
}

const phases = (seen: readonly { readonly phase: Phase }[]): readonly Phase[] =>
  seen.map(({ phase }) => phase);
const succeeded: readonly Phase[] = ['start', 'end', 'asyncStart', 'asyncEnd'];
const failed: readonly Phase[] = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'];

function example(use: readonly Middleware[] = []) {
  return createServer({
    use,
    name: 'example',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      add: tool({
        description: 'Adds.',
        input: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => a + b,
      }),
      ask: tool({
        description: 'Asks.',
        run: async (_, ctx) =>
          (await ctx.ask('who', { message: 'Who?', schema: z.object({ who: z.string() }) })).who,
      }),
      outer: tool({ description: 'Calls.', run: (_, ctx) => ctx.call('add', { a: 1, b: 2 }) }),
      slow: tool({ description: 'Runs as a task.', task: 'required', run: () => 'done' }),
    },
    resources: {
      'memo://{name}': resource({
        description: 'A memo.',
        read: ({ name }) => {
          if (name === 'broken') throw new Error('broken');
          return 'text';
        },
      }),
    },
  });
}

describe('the channel of calls', () => {
  it('has a start and an end for each call, at both ends', async () => {
    await using client = await connect(example());
    const seen = listen('call');
    await client.callTool('add', { a: 1, b: 2 });
    const ofServer = seen.filter(({ event }) => event.side === 'server');
    const ofClient = seen.filter(({ event }) => event.side === 'client');
    expect(phases(ofServer)).toEqual(succeeded);
    expect(phases(ofClient)).toEqual(succeeded);
    const [{ event } = { event: undefined }] = ofServer;
    expect(event).toMatchObject({ server: 'example', call: { method: 'tools/call' } });
    expect(event?.result).toMatchObject({ resultType: 'complete' });
    // All messages of one call are the same object.
    expect(new Set(ofServer.map((one) => one.event)).size).toBe(1);
  });

  it('has an error for a call that fails', async () => {
    await using client = await connect(example());
    const seen = listen('call');
    await client.callTool('nothing').catch(() => undefined);
    const ofServer = seen.filter(
      ({ event }) => event.side === 'server' && event.call.method === 'tools/call',
    );
    expect(phases(ofServer)).toEqual(failed);
    expect(ofServer[0]?.event.error).toMatchObject({ code: 'invalid_params' });
  });

  it.each([
    ['', []],
    [', also through middleware', [(call, next) => next(call)] satisfies Middleware[]],
  ])('has the call with its transport%s', async (_, use) => {
    const seen = listen('call');
    for (const { over, revision } of wires) {
      await using client = await testClient(example(use), { over, revision: revision as never });
      seen.length = 0;
      await client.callTool('add', { a: 1, b: 2 });
      const served = seen.find(({ event }) => event.side === 'server' && event.call.method === 'tools/call');
      const { via } = served?.event.call ?? {};
      expect(via?.transport, `${over} ${revision}`).toBe(over === 'in-process' ? undefined : over);
    }
  });

  it('also sees the calls of a server with middleware', async () => {
    const server = createServer({
      name: 'wrapped',
      version: '1.0.0',
      use: [(call, next) => next(call)],
      tools: { add: tool({ description: 'Adds.', run: () => 'ok' }) },
    });
    await using client = await connect(server);
    const seen = listen('call');
    await client.callTool('add');
    expect(phases(seen.filter(({ event }) => event.side === 'server'))).toEqual(succeeded);
  });

  it('binds stores, so that handlers run in a context of the listener', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const store = new AsyncLocalStorage<string>();
    const { start } = diagnostics.tracingChannel('fullmcp:call');
    start.bindStore(store, (event) => (event as TraceEvents['call']).call.method);
    onTestFinished(() => void start.unbindStore(store));
    const server = createServer({
      name: 'bound',
      version: '1.0.0',
      tools: { look: tool({ description: 'Looks.', run: () => store.getStore() ?? 'nothing' }) },
    });
    await using client = await connect(server);
    expect((await client.callTool('look')).text).toBe('tools/call');
  });
});

describe('the channels of tools and reads', () => {
  it('have each run of a handler, nested ones and tasks included', async () => {
    await using client = await connect(example());
    const seen = listen('tool');
    await client.callTool('outer');
    await client.callTool('slow');
    const starts = seen.filter(({ phase }) => phase === 'start').map(({ event }) => event.name);
    expect(starts).toEqual(['outer', 'add', 'slow']);
    const add = seen.filter(({ event }) => event.name === 'add');
    expect(phases(add)).toEqual(succeeded);
    expect(add[0]?.event).toMatchObject({ input: { a: 1, b: 2 }, result: { content: [{ text: '3' }] } });
  });

  it('have reads, and the error of one that fails', async () => {
    await using client = await connect(example());
    const seen = listen('read');
    await client.readResource('memo://one');
    expect(phases(seen)).toEqual(succeeded);
    expect(seen[0]?.event).toMatchObject({ uri: 'memo://one', result: { contents: [{ text: 'text' }] } });
    seen.length = 0;
    await client.readResource('memo://broken').catch(() => undefined);
    expect(phases(seen)).toEqual(failed);
  });
});

describe('the channel of questions', () => {
  it('has the question in the server and its answer in the client', async () => {
    await using client = await connect(example(), {
      elicit: () => ({ action: 'accept', content: { who: 'Ann' } }),
    });
    const seen = listen('question');
    expect((await client.callTool('ask')).text).toBe('Ann');
    const answered = seen.filter(({ event }) => event.side === 'client');
    expect(phases(answered)).toEqual(succeeded);
    expect(answered[0]?.event).toMatchObject({ key: 'who', request: { method: 'elicitation/create' } });
    // Asked in the first round, which ends with the question, and again in the second, which has the answer.
    const asked = seen.filter(({ event }) => event.side === 'server');
    expect(phases(asked)).toEqual([...failed, ...succeeded]);
    expect(asked.map(({ event }) => (event.error as Error | undefined)?.name)[0]).toBe('Suspension');
    expect(asked.at(-1)?.event.result).toMatchObject({ action: 'accept', content: { who: 'Ann' } });
  });
});

describe('the channel of subscriptions', () => {
  it('has a subscription from its acknowledgement to its end', async () => {
    const server = example();
    server.changed.resource('memo://one');
    const seen = listen('subscription');
    await using client = await connect(server);
    const subscription = await client.subscribe('memo://one');
    expect(phases(seen)).toEqual(['start']);
    expect(seen[0]?.event.granted).toEqual({ resourceSubscriptions: ['memo://one'] });
    await subscription.close();
    await until('the subscription has ended', () => seen.length > 1);
    expect(phases(seen)).toEqual(['start', 'asyncStart', 'asyncEnd']);
  });
});

describe('the channel of sessions', () => {
  it.each(wires)('has one session at each end: $name', async ({ over, revision }) => {
    const seen = listen('session');
    {
      await using client = await testClient(example(), { over, revision: revision as never });
      await client.callTool('add', { a: 1, b: 2 });
    }
    const isAlone = over === 'in-process' || (over === 'http' && revision === '2026-07-28');
    const lasting = ['start', 'asyncStart', 'asyncEnd'];
    const of = (side: string) => seen.filter(({ event }) => event.side === side);
    await until('the session of the server has ended', () => isAlone || of('server').length >= 3);
    expect(phases(of('client'))).toEqual(lasting);
    expect(phases(of('server'))).toEqual(isAlone ? [] : lasting);
    for (const { event } of seen) expect(event.transport).toBe(over);
  });
});

describe('the channel of tasks', () => {
  it('has the work on a task, with its status and its result', async () => {
    await using client = await connect(example());
    const seen = listen('task');
    await client.callTool('slow');
    await until('the task has ended', () => seen.length >= 3);
    expect(phases(seen)).toEqual(['start', 'asyncStart', 'asyncEnd']);
    expect(seen[0]?.event).toMatchObject({
      tool: 'slow',
      status: 'completed',
      result: { content: [{ text: 'done' }] },
    });
  });
});

describe('channels that nobody listens to', () => {
  it('make no message', async () => {
    const names = ['call', 'tool', 'read', 'question', 'subscription', 'session', 'task'];
    const prototype = Object.getPrototypeOf(
      diagnostics.tracingChannel('fullmcp:call'),
    ) as diagnostics.TracingChannel;
    const { tracePromise } = prototype;
    let traced = 0;
    prototype.tracePromise = function count(this: never, ...args: never[]) {
      traced++;
      return tracePromise.apply(this, args as never);
    } as never;
    onTestFinished(() => {
      prototype.tracePromise = tracePromise;
    });
    await using client = await connect(example(), {
      elicit: () => ({ action: 'accept', content: { who: 'Ann' } }),
    });
    for (const name of ['add', 'ask', 'outer', 'slow'])
      await client.callTool(name as never, { a: 1, b: 2 } as never).catch(() => undefined);
    await client.readResource('memo://one');
    expect(traced).toBe(0);
    for (const name of names)
      expect(diagnostics.tracingChannel(`fullmcp:${name}`).hasSubscribers).toBe(false);
    listen('call');
    await client.callTool('outer');
    expect(traced).toBe(2);
  });
});
