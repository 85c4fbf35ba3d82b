import { createServer, resource, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { memoryBus } from '../../../src/state/bus.js';
import { memoryEventLog } from '../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Events } from '../../support/http/http.js';
import { type Replicas, type ReplicasOptions, startReplicas } from '../../support/http/replicas.js';
import { openSession, type SessionClient, sessionClient } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';

// Sessions on several processes: streams, ends, log levels, subscriptions and tasks.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

const can = { elicitation: {} };
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26'];
const open: Replicas[] = [];
const aborted: string[] = [];
let pass: () => void = () => undefined;

afterEach(async () => {
  pass();
  aborted.length = 0;
  await Promise.all(open.splice(0).map((replicas) => replicas.close()));
});

function build(): Server {
  return createServer({
    name: 'replicated',
    version: '1',
    changes: true,
    logger: () => undefined,
    tools: {
      echo: tool({ run: () => 'echo' }),
      talk: tool({
        run: (_, { log }) => {
          for (const level of ['debug', 'info', 'error'] as const) log[level](level);
          return 'said';
        },
      }),
      // Reports progress, and waits until the test lets it pass.
      long: tool({
        async run(_, ctx) {
          await ctx.progress(1);
          await new Promise<void>((resolve, reject) => {
            pass = resolve;
            ctx.signal.addEventListener('abort', () => {
              aborted.push('long');
              reject(ctx.signal.reason);
            });
          });
          return 'through';
        },
      }),
      asks: tool({
        task: 'optional',
        run: async (_, ctx) => {
          const { name } = await ctx.ask('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          return `hello ${name}`;
        },
      }),
    },
    resources: { 'config://app': resource({ read: () => 'x' }) },
  }) as Server;
}

async function start(options: ReplicasOptions = {}, make: (at: number) => Server = build): Promise<Replicas> {
  const replicas = await startReplicas(make, options);
  open.push(replicas);
  return replicas;
}

async function openAt(
  { replicas }: Replicas,
  revision = '2025-11-25',
): Promise<[SessionClient, SessionClient]> {
  const first = await openSession(String(replicas[0]?.url), revision, can);
  return replicas.map(({ url }) => sessionClient(url, first.id)) as never;
}

async function next(events: Events): Promise<{ id: string | undefined; message: Message }> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    if (event.data !== '') return { id: event.id, message: JSON.parse(String(event.data)) };
  }
}

const long = { name: 'long', _meta: { progressToken: 1 } };
const accept = (id: unknown, content: object): object => ({
  jsonrpc: '2.0',
  id,
  result: { action: 'accept', content },
});

describe.each(revisions)('a streaming call of %s', (revision) => {
  test('is resumed at another process while it runs, and its result arrives there', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', long);
    const { id } = await next(events);
    events.drop();
    const again = await b.resume(String(id));
    expect(again.status).toBe(200);
    pass();
    expect((await next(again)).message['result'].content[0].text).toBe('through');
    expect(await again.rest()).toEqual([]);
    expect((await (await b.resume(String(id))).rest()).map(({ data }) => JSON.parse(data).id)).toEqual([1]);
  });

  test('gets an error as its last event if its process dies', async () => {
    const cluster = await start({ leaseMs: 1000 });
    const [a, b] = await openAt(cluster, revision);
    const events = await a.stream('tools/call', long);
    const { id } = await next(events);
    await cluster.replicas[0]?.kill();
    const again = await b.resume(String(id));
    expect((await next(again)).message).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('unknown what the call has done') },
    });
    expect(await again.rest()).toEqual([]);
    await until('nothing is left', async () => (await cluster.store.size('call:replicated')) === 0);
  });

  test('is cancelled by a client at another process', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', long, 9);
    await next(events);
    await b.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '9' } });
    expect(aborted).toEqual([]);
    await b.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } });
    await until('the call is aborted', () => aborted.length === 1);
    expect((await next(events)).message).toMatchObject({ id: 9, error: {} });
  });

  test('is aborted by DELETE at another process', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', long);
    await next(events);
    await b.end();
    await until('the call is aborted', () => aborted.length === 1);
    await events.rest();
    for (const to of [a, b]) expect((await to.request('ping')).status).toBe(404);
  });
});

test('a stream that ends while the log cannot be read is resumed later, and is not unknown', async () => {
  const log = memoryEventLog();
  let fail: ((error: Error) => void) | undefined;
  const cluster = await start({
    log: {
      ...log,
      follow: () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    },
  });
  const [a] = await openAt(cluster);
  const events = await a.stream('tools/call', long);
  const { id } = await next(events);
  events.drop();
  const resuming = a.resume(String(id));
  await until('the log is asked', () => fail !== undefined);
  pass();
  await until('the call has ended', async () => (await cluster.store.page('running:')).length === 0);
  fail?.(new Error('The log is away'));
  expect((await resuming).status).toBe(503);
});

test('a call whose record was stored although the store did not reply is not taken for dead', async () => {
  const store = memoryStore();
  let isLost = true;
  const write: typeof store.write = async (...args) => {
    const written = await store.write(...args);
    if (!isLost) return written;
    isLost = false;
    throw new Error('no reply');
  };
  const [a] = await openAt(await start({ store: { ...store, write } }));
  const events = await a.stream('tools/call', long);
  await next(events);
  await until('nobody finds the call', async () => (await store.size('call:replicated')) === 0);
  expect(await store.page('running:')).toEqual([]);
  pass();
  expect((await next(events)).message['result'].content[0].text).toBe('through');
});

test('a plain call writes nothing to the store', async () => {
  const store = memoryStore();
  let writes = 0;
  const counted = {
    ...store,
    write: (...args: Parameters<typeof store.write>) => {
      writes++;
      return store.write(...args);
    },
  };
  const [a, b] = await openAt(await start({ store: counted }));
  for (const to of [a, b, a, b])
    expect((await to.request('tools/call', { name: 'echo' })).text).toContain('echo');
  expect(writes).toBe(0);
});

test('a process that was stopped for longer than its lease does not disturb the client that went elsewhere', async () => {
  const store = memoryStore();
  let isStopped = false;
  const [a, b] = await openAt(
    await start({
      leaseMs: 1000,
      store: { ...store, renew: (...args) => (isStopped ? Promise.resolve([]) : store.renew(...args)) },
    }),
  );
  const events = await a.stream('tools/call', long);
  const { id } = await next(events);
  isStopped = true;
  await until('the call has lost its lease', () => aborted.length === 1);
  isStopped = false;
  expect(await events.rest()).toEqual([]);
  const again = await b.resume(String(id));
  const rest = await again.rest();
  expect(rest.map(({ data }) => JSON.parse(data).id)).toEqual([1]);
});

describe('a session on several processes', () => {
  const levels = async (to: SessionClient): Promise<string[]> =>
    [...(await to.request('tools/call', { name: 'talk' })).text.matchAll(/"level":"(\w+)"/g)].map(
      ([, level]) => String(level),
    );

  test('has one log level, also in a process that meets it later', async () => {
    const [store, bus] = [memoryStore(), memoryBus()];
    const [a, b] = await openAt(await start({ store, bus }));
    expect(await levels(b)).toEqual(['info', 'error']);
    await a.request('logging/setLevel', { level: 'error' });
    expect(await levels(b)).toEqual(['error']);
    await b.request('logging/setLevel', { level: 'debug' });
    expect(await levels(a)).toEqual(['debug', 'info', 'error']);
    const later = await start({ store, bus, count: 1 });
    expect(await levels(sessionClient(later.url, a.id))).toEqual(['debug', 'info', 'error']);
  });

  test('keeps log level and end even if the bus loses every message', async () => {
    const bus = memoryBus();
    const deaf = { ...bus, publish: async () => undefined };
    const [a, b] = await openAt(await start({ bus: deaf }));
    await b.request('ping');
    await a.request('logging/setLevel', { level: 'error' });
    await until('the other process has looked', async () => (await levels(b)).join() === 'error');
    await a.end();
    await until('the other process has looked', async () => (await b.request('ping')).status === 404);
  });

  test('is served by a process that knows it while the store is unavailable, and by another', async () => {
    const store = memoryStore();
    let isDown = false;
    const get: typeof store.get = (key) => (isDown ? Promise.reject(new Error('down')) : store.get(key));
    const cluster = await start({ store: { ...store, get } });
    const [a, b] = await openAt(cluster);
    await a.request('ping');
    isDown = true;
    await until('the check is due', async () => (await a.request('ping')).status === 200);
    // The signed id says enough to serve a call, but not what a stream has to report.
    expect((await b.request('ping')).status).toBe(200);
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': a.id,
      'mcp-protocol-version': '2025-11-25',
    };
    const streams = cluster.replicas.map(({ url }) => fetch(url, { headers }));
    const [known, unknown] = await Promise.all(streams);
    expect([known?.status, unknown?.status]).toEqual([200, 503]);
    await known?.body?.cancel();
    isDown = false;
    expect((await b.request('ping')).status).toBe(200);
  });

  test('hears at one process of changes that it subscribed to at the other, and survives its death', async () => {
    const server = build();
    const cluster = await start({}, () => server);
    const [a, b] = await openAt(cluster);
    const standing = await b.get();
    await standing.next();
    const uri = 'config://app';
    await a.request('resources/subscribe', { uri });
    // It may have changed before this process heard of the subscription.
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    server.changed.resource(uri);
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    server.changed.tools();
    const last = await next(standing);
    expect(last.message['method']).toBe('notifications/tools/list_changed');
    await cluster.replicas[1]?.kill();
    const again = await a.resume(String(last.id));
    const reported = [];
    for (let at = 0; at < 4; at++) reported.push((await next(again)).message['method']);
    // Each of them once: the client cannot know what it missed.
    expect(reported.sort()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
      'notifications/tools/list_changed',
    ]);
    await a.request('resources/unsubscribe', { uri });
    server.changed.resource(uri);
    server.changed.prompts();
    expect((await next(again)).message['method']).toBe('notifications/prompts/list_changed');
    again.drop();
  });

  test('hears of a change right after it subscribed at another process, however slow the store is', async () => {
    const server = build();
    const store = memoryStore();
    let waiting: Promise<void> | undefined;
    let release: () => void = () => undefined;
    const slow: typeof store = {
      ...store,
      async get(key) {
        await waiting;
        return store.get(key);
      },
      async write(...args) {
        waiting = new Promise((resolve) => {
          release = resolve;
        });
        return store.write(...args);
      },
    };
    const [a, b] = await openAt(await start({ store: slow }, () => server));
    const standing = await b.get();
    await standing.next();
    const uri = 'config://app';
    expect((await a.request('resources/subscribe', { uri })).status).toBe(200);
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    server.changed.resource(uri);
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    release();
    expect((await b.request('ping')).status).toBe(200);
    server.changed.tools();
    expect((await next(standing)).message['method']).toBe('notifications/tools/list_changed');
    standing.drop();
  });

  test('hears of a change that came before the message that it subscribed at another process', async () => {
    const server = build();
    const bus = memoryBus();
    const late: (() => Promise<void>)[] = [];
    const slow: typeof bus = {
      ...bus,
      async publish(topic, message) {
        if (message['do'] !== 'recall') return bus.publish(topic, message);
        late.push(() => bus.publish(topic, message));
      },
    };
    const [a, b] = await openAt(await start({ bus: slow }, () => server));
    const standing = await b.get();
    await standing.next();
    const uri = 'config://app';
    expect((await a.request('resources/subscribe', { uri })).status).toBe(200);
    server.changed.resource(uri);
    for (const publish of late) await publish();
    await until('the other process has looked', async () => (await b.request('ping')).status === 200);
    server.changed.tools();
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    expect((await next(standing)).message['method']).toBe('notifications/tools/list_changed');
    standing.drop();
  });

  test('hears of a change after it subscribed at another process while this one was reading its facts', async () => {
    const server = build();
    const store = memoryStore();
    let reads = 0;
    let waiting: Promise<void> | undefined;
    let release: () => void = () => undefined;
    const slow: typeof store = {
      ...store,
      async get(key) {
        const found = await store.get(key);
        reads++;
        await waiting;
        return found;
      },
    };
    const [a, b] = await openAt(await start({ store: slow }, () => server));
    await a.request('ping');
    reads = 0;
    waiting = new Promise((resolve) => {
      release = resolve;
    });
    const opening = b.get();
    await until('the facts were read', () => reads > 0);
    waiting = undefined;
    const uri = 'config://app';
    await a.request('resources/subscribe', { uri });
    release();
    const standing = await opening;
    await standing.next();
    server.changed.resource(uri);
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    standing.drop();
  });

  test('is told once that a resource may have changed if it learns late that it subscribed to it', async () => {
    const server = build();
    const bus = memoryBus();
    const deaf = { ...bus, publish: async () => undefined };
    const [a, b] = await openAt(await start({ bus: deaf }, () => server));
    const standing = await b.get();
    await standing.next();
    const uri = 'config://app';
    await a.request('resources/subscribe', { uri });
    server.changed.resource(uri);
    let isReported = false;
    const report = next(standing).finally(() => {
      isReported = true;
    });
    await until('the other process has looked', async () => {
      await b.request('ping');
      return isReported;
    });
    expect((await report).message).toMatchObject({ params: { uri } });
    server.changed.tools();
    expect((await next(standing)).message['method']).toBe('notifications/tools/list_changed');
    standing.drop();
  });

  test('hears of a subscription at another process even if the reply of the store was lost', async () => {
    const store = memoryStore();
    let isLost = true;
    const write: typeof store.write = async (...args) => {
      const written = await store.write(...args);
      if (!isLost) return written;
      isLost = false;
      throw new Error('no reply');
    };
    const [a, b] = await openAt(await start({ store: { ...store, write } }));
    const standing = await b.get();
    await standing.next();
    const uri = 'config://app';
    expect((await a.request('resources/subscribe', { uri })).text).toContain('Retry later');
    await a.request('resources/subscribe', { uri });
    expect((await next(standing)).message).toMatchObject({ params: { uri } });
    standing.drop();
  });

  test('hears of a subscription at another process that could not be looked up at first', async () => {
    const store = memoryStore();
    let failures = 0;
    const flaky: typeof store = {
      ...store,
      async write(...args) {
        const written = await store.write(...args);
        failures = 1;
        return written;
      },
      get: (key) => (failures-- > 0 ? Promise.reject(new Error('down')) : store.get(key)),
    };
    const bus = memoryBus();
    const terse = {
      ...bus,
      publish: (topic: string, { change: _, ...rest }: JsonObject) => bus.publish(topic, rest),
    };
    const [a, b] = await openAt(await start({ store: flaky, bus: terse }));
    const standing = await b.get();
    await standing.next();
    await a.request('resources/subscribe', { uri: 'config://app' });
    expect((await next(standing)).message).toMatchObject({ params: { uri: 'config://app' } });
    standing.drop();
  });

  test('is ended by a second DELETE at the same process if the store failed at the first', async () => {
    const store = memoryStore();
    let isDown = false;
    const write: typeof store.write = (...args) =>
      isDown ? Promise.reject(new Error('down')) : store.write(...args);
    const [a, b] = await openAt(await start({ store: { ...store, write } }));
    await Promise.all([a.request('ping'), b.request('ping')]);
    isDown = true;
    expect((await a.end()).status).toBe(503);
    isDown = false;
    expect((await a.end()).status).toBe(200);
    await until('the other process has heard of it', async () => (await b.request('ping')).status === 404);
  });

  test('has one GET stream: a new one at another process ends the old one', async () => {
    const server = build();
    const [a, b] = await openAt(await start({}, () => server));
    const older = await a.get();
    await older.next();
    const newer = await b.get();
    await newer.next();
    expect(await older.rest()).toEqual([]);
    server.changed.tools();
    expect((await next(newer)).message['method']).toBe('notifications/tools/list_changed');
    newer.drop();
  });
});

describe('tasks/result of 2025-11-25 on several processes', () => {
  async function waiting(cluster: Replicas): Promise<{
    a: SessionClient;
    b: SessionClient;
    events: Events;
    question: { id: string | undefined; message: Message };
  }> {
    const [a, b] = await openAt(cluster);
    const created = await a.request('tools/call', { name: 'asks', task: {} }, 1);
    const { taskId } = JSON.parse(created.text).result.task;
    const events = await a.stream('tasks/result', { taskId }, 2);
    return { a, b, events, question: await next(events) };
  }

  test('takes the answer from another process', async () => {
    const server = build();
    const { b, events, question } = await waiting(await start({}, () => server));
    expect((await b.post(accept(question.message['id'], { name: 'Ada' }))).status).toBe(202);
    expect((await next(events)).message).toMatchObject({
      id: 2,
      result: { content: [{ text: 'hello Ada' }] },
    });
  });

  test('continues at another process when its own dies, and asks again', async () => {
    const server = build();
    const cluster = await start({ leaseMs: 1_000 }, () => server);
    const { b, question } = await waiting(cluster);
    await cluster.replicas[0]?.kill();
    const again = await b.resume(String(question.id));
    expect((await next(again)).message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question.message['id'] },
    });
    const { message } = await next(again);
    expect(message['params'].message).toBe('Name?');
    await b.post(accept(message['id'], { name: 'Ada' }));
    expect((await next(again)).message).toMatchObject({
      id: 2,
      result: { content: [{ text: 'hello Ada' }] },
    });
    expect(await again.rest()).toEqual([]);
  });

  test('continues at another process when its own is shut down', async () => {
    const server = { ...build(), close: async () => undefined } as Server;
    const cluster = await start({ leaseMs: 1_000 }, () => server);
    const { b, events, question } = await waiting(cluster);
    await cluster.replicas[0]?.close();
    expect((await events.rest()).filter(({ data }) => data.includes('"id":2'))).toEqual([]);
    const again = await b.resume(String(question.id));
    let received = (await next(again)).message;
    while (received['method'] !== 'elicitation/create') received = (await next(again)).message;
    await b.post(accept(received['id'], { name: 'Ada' }));
    expect((await next(again)).message).toMatchObject({
      id: 2,
      result: { content: [{ text: 'hello Ada' }] },
    });
  });
});
