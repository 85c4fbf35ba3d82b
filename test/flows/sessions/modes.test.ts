import { createServer, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryEventLog } from '../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Store } from '../../../src/state/store.js';
import { type Events, openEvents } from '../../support/http/http.js';
import { type Replicas, type ReplicasOptions, startReplicas } from '../../support/http/replicas.js';
import { openSession, type SessionClient, sessionClient } from '../../support/http/sessions.js';
import { soon, until } from '../../support/until.js';

// A client must not notice how many processes serve its session: the same events on one process alone, in a cluster of one, and in a
// cluster of two where every other request goes to the second one.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

interface Mode {
  readonly name: string;
  readonly options: ReplicasOptions;
}

const alone: Mode = { name: 'one process alone', options: { count: 1, isAlone: true } };
const modes: readonly Mode[] = [
  alone,
  { name: 'a cluster of one', options: { count: 1 } },
  { name: 'a cluster of two', options: { count: 2 } },
];

const ok = z.object({ ok: z.boolean() });
const effects: string[] = [];
const open: Replicas[] = [];

afterEach(async () => {
  effects.length = 0;
  await Promise.all(open.splice(0).map((replicas) => replicas.close()));
});

function build(): Server {
  return createServer({
    name: 'replicated',
    version: '1',
    logger: () => undefined,
    tools: {
      order: tool({
        async run(_, ctx) {
          await ctx.progress(1, 2, 'begun');
          const { name } = await ctx.ask('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          await ctx.step('place', () => void effects.push(`placed for ${name}`));
          await ctx.ask('sure', { message: `Sure, ${name}?`, schema: ok });
          return `done for ${name}`;
        },
      }),
    },
  }) as Server;
}

/** Clients of one session: `here` at the first process, `there` at the last, which may be the same. */
async function start(
  mode: Mode,
  options: ReplicasOptions = {},
): Promise<{ cluster: Replicas; here: SessionClient; there: SessionClient }> {
  const cluster = await startReplicas(build, { ...mode.options, ...options });
  open.push(cluster);
  const urls = cluster.replicas.map(({ url }) => url);
  const here = await openSession(String(urls[0]), '2025-11-25', { elicitation: { form: {} } });
  return { cluster, here, there: sessionClient(String(urls.at(-1)), here.id) };
}

const call = { name: 'order', _meta: { progressToken: 1 } };

interface Received {
  readonly id: string | undefined;
  readonly message: Message;
}

async function next(events: Events): Promise<Received> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    if (event.data !== '') return { id: event.id, message: JSON.parse(String(event.data)) };
  }
}

/** The next question. */
async function asked(events: Events): Promise<Received> {
  for (;;) {
    const received = await next(events);
    if (received.message['method'] === 'elicitation/create') return received;
  }
}

async function rest(events: Events): Promise<Message[]> {
  const messages = (await events.rest()).filter(({ data }) => data !== '');
  return messages.map(({ data }) => JSON.parse(data) as Message);
}

const accept = (id: unknown, content: object): object => ({
  jsonrpc: '2.0',
  id,
  result: { action: 'accept', content },
});

async function keysIn(store: Store, ...kinds: string[]): Promise<string[]> {
  const pages = await Promise.all(kinds.map((kind) => store.page(`${kind}:`)));
  return pages.flat().map(({ key }) => key);
}

describe.each(modes)('a session of $name', (mode) => {
  test('gets every event of a call that asks twice in the same order, and leaves nothing in the store', async () => {
    const { cluster, here, there } = await start(mode);
    const events = await here.stream('tools/call', call);
    const name = await asked(events);
    expect((await there.post(accept(name.message['id'], { name: 'Ada' }))).status).toBe(202);
    const sure = await asked(events);
    expect(sure.message['params'].message).toBe('Sure, Ada?');
    expect((await there.post(accept(sure.message['id'], { ok: true }))).status).toBe(202);
    expect(await rest(events)).toMatchObject([{ id: 1, result: { content: [{ text: 'done for Ada' }] } }]);
    expect(effects).toEqual(['placed for Ada']);
    await until(
      'the store has nothing of the call',
      async () => (await keysIn(cluster.store, 'asked', 'running', 'questions')).length === 0,
    );
    expect(await cluster.store.size('call:replicated')).toBe(0);
  });

  test('continues on a second connection after its client lost the first one during a question', async () => {
    const { here, there } = await start(mode);
    const events = await here.stream('tools/call', call);
    const begun = await next(events);
    const name = await asked(events);
    events.drop();
    const again = await there.resume(String(begun.id));
    expect(await asked(again)).toEqual(name);
    await here.post(accept(name.message['id'], { name: 'Ada' }));
    const sure = await asked(again);
    again.drop();
    // Answered while no connection is open.
    await there.post(accept(sure.message['id'], { ok: true }));
    const last = await rest(await here.resume(String(sure.id)));
    expect(last).toMatchObject([{ id: 1, result: { content: [{ text: 'done for Ada' }] } }]);
    expect(effects).toEqual(['placed for Ada']);
  });

  test('withdraws a question whose call is cancelled, ends the call, and takes the answer that comes too late', async () => {
    const { here, there } = await start(mode);
    const events = await here.stream('tools/call', call, 7);
    const { id } = (await asked(events)).message;
    await there.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(await rest(events)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: id } },
      { id: 7, error: { message: 'The call ended before the client answered.' } },
    ]);
    expect((await here.post(accept(id, { name: 'Ada' }))).status).toBe(202);
    expect(effects).toEqual([]);
  });

  test('withdraws its questions once when it is deleted, and takes no answer any more', async () => {
    const { here, there } = await start(mode);
    const events = await here.stream('tools/call', call);
    const { id } = (await asked(events)).message;
    expect((await there.end()).status).toBe(200);
    expect(await rest(events)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: id } },
    ]);
    expect((await here.post(accept(id, { name: 'Ada' }))).status).toBe(404);
    expect(effects).toEqual([]);
  });

  test('withdraws the questions of a batch once when it is deleted', async () => {
    const { cluster } = await start(mode);
    const [url] = cluster.replicas.map((replica) => replica.url);
    const session = await openSession(String(url), '2025-03-26', { elicitation: {} });
    const body = JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'order' } }]);
    const events = await openEvents(String(url), { headers: session.headers, body });
    const { id } = (await asked(events)).message;
    expect((await session.end()).status).toBe(200);
    const withdrawn = (await rest(events)).filter(({ method }) => method === 'notifications/cancelled');
    expect(withdrawn).toMatchObject([{ params: { requestId: id } }]);
  });

  test('ends a call whose question nobody answers in time', async () => {
    const { here } = await start(mode, { askMs: 100 });
    const events = await here.stream('tools/call', call);
    const { id } = (await asked(events)).message;
    expect(await rest(events)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: id } },
      { id: 1, error: { message: expect.stringContaining('100 ms') } },
    ]);
  });
});

describe('a session of one process alone', () => {
  test('ends its waiting calls with an error when the process is shut down, because nobody could continue them', async () => {
    const { cluster, here } = await start(alone);
    const events = await here.stream('tools/call', call);
    const { id } = (await asked(events)).message;
    await Promise.all(cluster.replicas.map((replica) => replica.close()));
    expect(await rest(events)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: id } },
      { id: 1, error: { message: 'The server is shutting down.' } },
    ]);
  });

  test('still asks a client that is connected while the event log fails, and the answer continues its call', async () => {
    const log = memoryEventLog();
    const append = () => Promise.reject(new Error('The disk is full.'));
    const { here } = await start(alone, { log: { ...log, append } });
    const events = await here.stream('tools/call', call);
    await here.post(accept((await asked(events)).message['id'], { name: 'Ada' }));
    await here.post(accept((await asked(events)).message['id'], { ok: true }));
    expect(await rest(events)).toMatchObject([{ id: 1, result: { content: [{ text: 'done for Ada' }] } }]);
  });

  test('is ended by a shutdown although the event log does not store the ends of its calls', async () => {
    const log = memoryEventLog();
    const append = () => Promise.reject(new Error('The disk is full.'));
    const { cluster, here } = await start(alone, { log: { ...log, append } });
    const events = await here.stream('tools/call', call);
    await asked(events);
    const closing = Promise.all(cluster.replicas.map((replica) => replica.close()));
    expect((await rest(events)).at(-1)).toMatchObject({ error: { message: 'The server is shutting down.' } });
    await soon('The end of the shutdown', closing);
  });

  test('looks for no questions in the store when it is deleted, or a call that has ended is cancelled', async () => {
    const store = memoryStore();
    const pages: string[] = [];
    const page: Store['page'] = (prefix, range) => {
      pages.push(prefix);
      return store.page(prefix, range);
    };
    const { here } = await start(alone, { store: { ...store, page } });
    await here.request('ping', {}, 7);
    for (const requestId of [7, 'unknown'])
      await here.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    expect((await here.end()).status).toBe(200);
    expect(pages).toEqual([]);
  });

  test('leaves nothing in the store when it is deleted, so that many sessions a day do not fill the store', async () => {
    const store = memoryStore({ maxEntries: 8, kindShare: 0.5 });
    const { cluster } = await start(alone, { store });
    const [url] = cluster.replicas.map((replica) => replica.url);
    for (let at = 0; at < 10; at++) {
      const session = await openSession(String(url));
      const reply = await session.request('logging/setLevel', { level: 'debug' });
      expect(JSON.parse(reply.text)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
      expect((await session.end()).status).toBe(200);
      expect((await session.request('ping')).status).toBe(404);
    }
    expect(await keysIn(store, 'session', 'uris')).toEqual([]);
  });
});
