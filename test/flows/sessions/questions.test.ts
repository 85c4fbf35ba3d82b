import { createServer, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryBus } from '../../../src/state/bus.js';
import { memoryEventLog } from '../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Store } from '../../../src/state/store.js';
import { type Events, openEvents } from '../../support/http/http.js';
import { type Replicas, type ReplicasOptions, startReplicas } from '../../support/http/replicas.js';
import { openSession, type SessionClient, sessionClient } from '../../support/http/sessions.js';
import { signal } from '../../support/signal.js';
import { until } from '../../support/until.js';

// Questions of session-era servers on several processes: asked in one, answered in another, and the asking one may die.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

const can = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const ok = z.object({ ok: z.boolean() });
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26'];

const effects: string[] = [];
const open: Replicas[] = [];
const gates = new Map<string, () => void>();

afterEach(async () => {
  effects.length = 0;
  for (const pass of gates.values()) pass();
  gates.clear();
  await Promise.all(open.splice(0).map((replicas) => replicas.close()));
});

/** Waits until the test lets it pass. */
function gate(name: string, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    gates.set(name, resolve);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

function build(at: number): Server {
  return createServer({
    name: 'replicated',
    version: '1',
    logger: () => undefined,
    tools: {
      // Two questions one after the other, a step, and progress in between.
      order: tool({
        async run(_, ctx) {
          await ctx.progress(1, 2, `begun at ${at}`);
          const { name } = await ctx.ask('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          await ctx.step('place', () => void effects.push(`placed for ${name}`));
          await ctx.ask('sure', { message: `Sure, ${name}?`, schema: ok });
          effects.push(`finished at ${at}`);
          return `done for ${name}`;
        },
      }),
      pair: tool({
        run: async (_, ctx) => {
          await Promise.all([
            ctx.ask('left', { message: 'Left?', schema: ok }),
            ctx.ask('right', { message: 'Right?', schema: ok }),
          ]);
          effects.push('both');
          return 'both';
        },
      }),
      slow: tool({
        async run(_, ctx) {
          await ctx.ask('sure', { message: 'Sure?', schema: ok });
          effects.push('running');
          await gate('slow', ctx.signal);
          return 'slow';
        },
      }),
      login: tool({
        run: async (_, ctx) =>
          (await ctx.elicit('login', { message: 'Log in', url: 'https://example.com/login' })).action,
      }),
      many: tool({
        input: z.object({ count: z.number() }),
        run: async ({ count }, ctx) => {
          await Promise.all(
            Array.from({ length: count }, (_, n) => ctx.ask(`q${n}`, { message: `${n}?`, schema: ok })),
          );
          return 'all';
        },
      }),
    },
  }) as Server;
}

async function start(options: ReplicasOptions = {}, make = build): Promise<Replicas> {
  const replicas = await startReplicas(make, options);
  open.push(replicas);
  return replicas;
}

/** A store that keeps the first write of a call in this state waiting, before or after it is made, until the gate is passed. */
function storeThatHolds(state: 'open' | 'answered', when: 'before' | 'after') {
  const store = memoryStore();
  const held = `${state} ${when}`;
  const write: Store['write'] = async (changes, options) => {
    const isHeld =
      !gates.has(held) && changes.some((change) => change.do === 'put' && change.value['state'] === state);
    if (isHeld && when === 'before') await gate(held);
    const written = await store.write(changes, options);
    if (isHeld && when === 'after') await gate(held);
    return written;
  };
  return { store: { ...store, write }, held };
}

/** A client of the same session at each process. */
async function openAt(
  { replicas }: Replicas,
  revision: string,
): Promise<[SessionClient, SessionClient, ...SessionClient[]]> {
  const first = await openSession(String(replicas[0]?.url), revision, can);
  return replicas.map(({ url }) => sessionClient(url, first.id)) as never;
}

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

/** The next message that is not progress. */
async function nextOther(events: Events): Promise<Received> {
  for (;;) {
    const received = await next(events);
    if (received.message['method'] !== 'notifications/progress') return received;
  }
}

const accept = (id: unknown, content?: object): object => ({
  jsonrpc: '2.0',
  id,
  result: { action: 'accept', ...(content && { content }) },
});

describe.each(revisions)('a question of %s', (revision) => {
  test('is answered at another process than the one that asked, and the result reaches the client', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'order', _meta: { progressToken: 1 } });
    expect((await next(events)).message['params'].message).toBe('begun at 0');
    const name = (await nextOther(events)).message;
    expect((await b.post(accept(name['id'], { name: 'Ada' }))).status).toBe(202);
    const sure = (await nextOther(events)).message;
    expect(sure['params'].message).toBe('Sure, Ada?');
    expect((await b.post(accept(sure['id'], { ok: true }))).status).toBe(202);
    expect((await nextOther(events)).message).toMatchObject({
      id: 1,
      result: { content: [{ text: 'done for Ada' }] },
    });
    expect(await events.rest()).toEqual([]);
    expect(effects).toEqual(['placed for Ada', 'finished at 1']);
  });

  test('may be answered at the process that asked, while another question was answered elsewhere', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    await b.post(accept((await next(events)).message['id'], { name: 'Ada' }));
    await a.post(accept((await next(events)).message['id'], { ok: true }));
    expect((await next(events)).message['result'].content[0].text).toBe('done for Ada');
    expect(effects).toEqual(['placed for Ada', 'finished at 0']);
  });

  test('counts once, even if the answer arrives at both processes at the same time', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    const answers = async (content: object): Promise<number[]> => {
      const { message } = await next(events);
      const replies = await Promise.all([a, b, a, b].map((to) => to.post(accept(message['id'], content))));
      return replies.map(({ status }) => status);
    };
    expect(await answers({ name: 'Ada' })).toContain(202);
    expect(await answers({ ok: true })).toContain(202);
    expect((await next(events)).message['id']).toBe(1);
    expect(await events.rest()).toEqual([]);
    expect(effects.filter((effect) => effect.startsWith('placed'))).toHaveLength(1);
    expect(effects.filter((effect) => effect.startsWith('finished'))).toHaveLength(1);
  });

  test('and another one that was asked with it are answered at different processes', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = await openAt(await start(), revision);
      const events = await a.stream('tools/call', { name: 'pair' });
      const questions = [(await next(events)).message, (await next(events)).message];
      const replies = await Promise.all([
        a.post(accept(questions[0]?.['id'], { ok: true })),
        b.post(accept(questions[1]?.['id'], { ok: true })),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([202, 202]);
      expect((await next(events)).message['result'].content[0].text).toBe('both');
      expect(effects.splice(0)).toEqual(['both']);
    }
  });

  test('survives the process that asked: the client resumes the stream at another one', async () => {
    const cluster = await start({ leaseMs: 1500 });
    const [a, b] = await openAt(cluster, revision);
    const events = await a.stream('tools/call', { name: 'order', _meta: { progressToken: 1 } });
    const begun = await next(events);
    const asked = await next(events);
    await cluster.replicas[0]?.kill();
    // Resumed before the question, which the client missed.
    const again = await b.resume(String(begun.id));
    expect(again.status).toBe(200);
    const question = await nextOther(again);
    expect(question).toEqual(asked);
    await b.post(accept(question.message['id'], { name: 'Ada' }));
    const sure = await nextOther(again);
    again.drop();
    await b.post(accept(sure.message['id'], { ok: true }));
    const last = await b.resume(String(sure.id));
    expect((await nextOther(last)).message['result'].content[0].text).toBe('done for Ada');
    expect(effects).toEqual(['placed for Ada', 'finished at 1']);
  });

  test('is withdrawn if the client cancels the call at another process', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'pair' }, 7);
    const asked = [(await next(events)).message['id'], (await next(events)).message['id']];
    await b.post(accept(asked[0], { ok: true }));
    await b.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    expect((await next(events)).message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: asked[1] },
    });
    expect((await next(events)).message).toMatchObject({ id: 7, error: { code: expect.any(Number) } });
    expect(await events.rest()).toEqual([]);
    for (const to of [a, b]) expect((await to.post(accept(asked[1], { ok: true }))).status).toBe(202);
    expect(effects).toEqual([]);
  });

  test('is withdrawn, and the session is unknown everywhere, after DELETE at another process', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    const { message } = await next(events);
    expect((await b.end()).status).toBe(200);
    expect((await events.rest()).map(({ data }) => JSON.parse(data).method)).toEqual([
      'notifications/cancelled',
    ]);
    for (const to of [a, b]) {
      expect((await to.post(accept(message['id'], { name: 'x' }))).status).toBe(404);
      expect((await to.request('ping')).status).toBe(404);
    }
    expect(effects).toEqual([]);
  });

  test('is the last of its call if DELETE at another process comes while its answer is being stored', async () => {
    const { store, held } = storeThatHolds('answered', 'after');
    const [a, b] = await openAt(await start({ store }), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    const { message } = await next(events);
    const answering = a.post(accept(message['id'], { name: 'x' }));
    await until('the answer is stored', () => gates.has(held));
    expect((await b.end()).status).toBe(200);
    gates.get(held)?.();
    await answering;
    await until('the call is forgotten', async () => (await store.page('asked:')).length === 0);
    expect(await store.page('questions:')).toEqual([]);
    expect(effects).toEqual([]);
  });

  test('is withdrawn if DELETE at another process looked for questions before it was stored, and the bus is silent', async () => {
    const { store, held } = storeThatHolds('open', 'before');
    const bus = { ...memoryBus(), publish: async () => undefined };
    const [a, b] = await openAt(await start({ store, bus }), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    await until('the question is about to be stored', () => gates.has(held));
    expect((await b.end()).status).toBe(200);
    gates.get(held)?.();
    const rest = (await events.rest()).map(({ data }) => data && JSON.parse(data).method);
    expect(rest).toContain('notifications/cancelled');
    await until('no question is counted', async () => (await store.page('questions:')).length === 0);
    expect(effects).toEqual([]);
  });

  test('that the client cannot answer fails the call, and withdraws the other question', async () => {
    const [a, b] = await openAt(await start(), revision);
    const events = await a.stream('tools/call', { name: 'pair' });
    const asked = [(await next(events)).message['id'], (await next(events)).message['id']];
    await b.post({ jsonrpc: '2.0', id: asked[0], error: { code: -1, message: 'Nobody is here' } });
    expect((await next(events)).message).toMatchObject({ params: { requestId: asked[1] } });
    expect((await next(events)).message['result']).toMatchObject({
      isError: true,
      content: [{ text: 'The client could not answer: Nobody is here' }],
    });
  });

  test('that is never answered is withdrawn, and its call fails', async () => {
    const [a] = await openAt(await start({ askMs: 100 }), revision);
    const events = await a.stream('tools/call', { name: 'order' });
    const { message } = await next(events);
    expect((await next(events)).message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: message['id'] },
    });
    expect((await next(events)).message['error'].message).toContain('100 ms');
    expect(await events.rest()).toEqual([]);
  });
});

describe('an answer', () => {
  test('from another session or another caller is rejected at every process, and the question stays open', async () => {
    const cluster = await start({ hasUsers: true });
    const urls = cluster.replicas.map(({ url }) => url) as [string, string];
    const as = (user: string) => ({ 'x-user': user });
    const ada = await openSession(urls[0], '2025-11-25', can, as('ada'));
    const eve = await openSession(urls[0], '2025-11-25', can, as('eve'));
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'order' } };
    const headers = { ...ada.headers, ...as('ada') };
    const events = await openEvents(urls[0], { headers, body: JSON.stringify(call) });
    const { message } = await next(events);
    const answer = accept(message['id'], { name: 'Eve' });
    for (const url of urls) {
      expect((await sessionClient(url, eve.id).post(answer, as('eve'))).status).toBe(400);
      expect((await sessionClient(url, ada.id).post(answer, as('eve'))).status).toBe(404);
      expect((await sessionClient(url, ada.id).post(answer)).status).toBe(404);
    }
    await sessionClient(urls[1], ada.id).post(accept(message['id'], { name: 'Ada' }), as('ada'));
    const sure = (await next(events)).message;
    expect(sure['params'].message).toBe('Sure, Ada?');
    await sessionClient(urls[1], ada.id).post(accept(sure['id'], { ok: true }), as('ada'));
    expect((await next(events)).message['result'].content[0].text).toBe('done for Ada');
  });

  test('to a question that nobody asked gets 400 everywhere, and each process says so once', async () => {
    const cluster = await start();
    const clients = await openAt(cluster, '2025-11-25');
    const ids = [
      'ask-1',
      5,
      '__proto__',
      `ask-${'0'.repeat(20)}.${crypto.randomUUID()}`,
      'ask-:.*',
      'x'.repeat(1000),
    ];
    for (const to of clients)
      for (const id of ids) {
        const reply = await to.post(accept(id));
        expect([reply.status, JSON.parse(reply.text).error.message]).toEqual([
          400,
          expect.stringContaining('No open question'),
        ]);
      }
    for (const { warnings } of cluster.replicas)
      expect(warnings).toEqual([expect.stringContaining('is not open')]);
  });

  test('that the process took before it died leads to an error, not to silence', async () => {
    const cluster = await start({ leaseMs: 1500 });
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'slow' });
    const { message } = await next(events);
    expect((await b.post(accept(message['id'], { ok: true }))).status).toBe(202);
    await until('the call runs at the other process', () => effects.includes('running'));
    await cluster.replicas[1]?.kill();
    expect((await next(events)).message['error'].message).toContain('unknown what the call has done');
    expect(await events.rest()).toEqual([]);
  });

  test('is sent as a batch, and to a call of a batch, at another process', async () => {
    const cluster = await start();
    const [a, b] = await openAt(cluster, '2025-03-26');
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'pair' } });
    const body = JSON.stringify([call(1), call(2)]);
    const events = await openEvents(String(cluster.replicas[0]?.url), { headers: a.headers, body });
    const asked = [];
    for (let at = 0; at < 4; at++) asked.push((await next(events)).message['id']);
    expect((await b.post(asked.map((id) => accept(id, { ok: true })))).status).toBe(202);
    const { message } = await next(events);
    expect((message as Message[]).map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(await events.rest()).toEqual([]);
    expect(effects).toEqual(['both', 'both']);
  });
});

describe('the questions of a session', () => {
  test('are limited over all processes', async () => {
    const cluster = await start();
    const [a, b] = await openAt(cluster, '2025-11-25');
    const first = await a.stream('tools/call', { name: 'many', arguments: { count: 60 } }, 1);
    await next(first);
    const refused = await b.request('tools/call', { name: 'many', arguments: { count: 60 } }, 2);
    expect(refused.text).toContain('at most 100 open questions');
    await a.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await first.rest();
    const second = await b.stream('tools/call', { name: 'many', arguments: { count: 60 } }, 3);
    expect((await next(second)).message['method']).toBe('elicitation/create');
    second.drop();
  });

  test('fail with a clear error while the store is unavailable, and the process goes on', async () => {
    const store = memoryStore();
    let isDown = false;
    const cluster = await start({
      store: {
        ...store,
        write: (...args) => (isDown ? Promise.reject(new Error('down')) : store.write(...args)),
      },
    });
    const [a] = await openAt(cluster, '2025-11-25');
    await a.request('ping');
    isDown = true;
    const events = await a.stream('tools/call', { name: 'order' });
    expect((await next(events)).message['error'].message).toContain('could not be stored');
    isDown = false;
    const again = await a.stream('tools/call', { name: 'order' }, 2);
    expect((await next(again)).message['method']).toBe('elicitation/create');
    again.drop();
  });

  test('do not count as open if they were stored, but the reply of the store was lost', async () => {
    const store = memoryStore();
    const cluster = await start({
      store: {
        ...store,
        async write(changes, options) {
          const written = await store.write(changes, options);
          const isAsking = changes.some((change) => change.do === 'count' && change.by > 0);
          if (isAsking) throw new Error('no reply');
          return written;
        },
      },
    });
    const [a] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'pair' });
    expect((await next(events)).message['error'].message).toContain('could not be stored');
    await until('nothing is counted', async () => (await store.page('questions:')).length === 0);
    const [asked] = await store.page('asked:');
    expect(asked?.value['state']).toBe('withdrawn');
  });

  test('end with their call although the reply of the store to its cancellation was lost', async () => {
    const store = memoryStore();
    const cluster = await start({
      leaseMs: 1500,
      store: {
        ...store,
        async write(changes, options) {
          const written = await store.write(changes, options);
          const isWithdrawal = changes.some((change) => change.do === 'count' && change.by < 0);
          if (isWithdrawal) throw new Error('no reply');
          return written;
        },
      },
    });
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'pair' });
    await next(events);
    const params = { requestId: 1 };
    const cancelled = await b.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect([cancelled.status, cancelled.text]).toEqual([503, expect.stringContaining('Cancel it again')]);
    const rest = [];
    for (let at = 0; at < 4; at++) rest.push((await next(events)).message);
    expect(rest.at(-1)).toMatchObject({ id: 1, error: { message: expect.stringContaining('ended') } });
  });

  test('reach the client although the store did not take the record of the call, and the process died between two of them', async () => {
    const store = memoryStore();
    const log = memoryEventLog();
    const received = signal();
    let records = 0;
    let asked = 0;
    const cluster: Replicas = await start({
      leaseMs: 1500,
      store: {
        ...store,
        write: (changes, options) => {
          const isRecord = changes.some((change) => change.do === 'put' && change.key.startsWith('running:'));
          if (isRecord && ++records === 1) return Promise.reject(new Error('down'));
          return store.write(changes, options);
        },
      },
      log: {
        ...log,
        append: async (stream, data, options) => {
          if (data.includes('elicitation/create') && ++asked === 2) {
            await received.promise;
            await cluster.replicas[0]?.kill();
          }
          return log.append(stream, data, options);
        },
      },
    });
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'pair' });
    const first = await next(events);
    received.give();
    const again = await b.resume(String(first.id));
    const ids = new Set([first.message['id']]);
    while (ids.size < 2) ids.add((await next(again)).message['id']);
    for (const id of ids) await b.post(accept(id, { ok: true }));
    for (;;) {
      const { message } = await next(again);
      if (message['method'] !== undefined) continue;
      expect(message).toMatchObject({ id: 1, result: { content: [{ text: 'both' }] } });
      break;
    }
    expect(effects).toEqual(['both']);
  });

  test('that could not be stored end their call, even if the process dies when it has withdrawn them', async () => {
    const store = memoryStore();
    const log = memoryEventLog();
    const cluster: Replicas = await start({
      leaseMs: 2000,
      store: {
        ...store,
        async write(changes, options) {
          const written = await store.write(changes, options);
          const isWithdrawal = changes.some((change) => change.do === 'count' && change.by < 0);
          if (isWithdrawal) await cluster.replicas[0]?.kill();
          return written;
        },
      },
      log: {
        ...log,
        append: (stream, data, options) =>
          data.includes('elicitation/create')
            ? // An error that is not worth another attempt: a lease would run out during many of them.
              Promise.reject(new RangeError('refused'))
            : log.append(stream, data, options),
      },
    });
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'order', _meta: { progressToken: 1 } });
    const { id } = await next(events);
    await until('the process is dead', () =>
      events.rest().then(
        () => true,
        () => true,
      ),
    );
    const again = await b.resume(String(id));
    expect((await nextOther(again)).message).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('unknown what the call has done') },
    });
  });

  test('are sent again by the process that asked, if it was cut off from the store for longer than its lease', async () => {
    const store = memoryStore();
    const log = memoryEventLog();
    let state: 'before' | 'cut' | 'after' = 'before';
    const reach = <T>(work: () => Promise<T>): Promise<T> =>
      state === 'cut' ? Promise.reject(new Error('down')) : work();
    const cluster = await start({
      count: 1,
      leaseMs: 1500,
      store: {
        ...store,
        get: (key) => reach(() => store.get(key)),
        claim: (queue, options) => reach(() => store.claim(queue, options)),
        renew: (leases, ms) => reach(() => store.renew(leases, ms)),
        async write(changes, options) {
          const isGivenAway = changes.some((change) => change.do === 'release');
          const written = reach(() => store.write(changes, options));
          if (isGivenAway) state = 'after';
          return written;
        },
      },
      log: {
        ...log,
        append(stream, data, options) {
          if (state !== 'before' || !data.includes('elicitation/create'))
            return reach(() => log.append(stream, data, options));
          state = 'cut';
          // An error that is not worth another attempt.
          return Promise.reject(new RangeError('refused'));
        },
      },
    });
    const [a] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'slow' });
    const { message } = await next(events);
    expect(message['method']).toBe('elicitation/create');
    expect(state).toBe('after');
    await a.post(accept(message['id'], { ok: true }));
    await until('the call runs', () => gates.has('slow'));
    gates.get('slow')?.();
    expect((await next(events)).message).toMatchObject({ id: 1, result: { content: [{ text: 'slow' }] } });
  });

  test('end their call if no process ran for so long that they are almost forgotten', async () => {
    const store = memoryStore();
    const log = memoryEventLog();
    let isOld = false;
    const cluster: Replicas = await start({
      leaseMs: 1500,
      askMs: 1_800_000,
      store: {
        ...store,
        async get(key) {
          const entry = await store.get(key);
          return entry && isOld ? { ...entry, expiresInMs: 600_000 } : entry;
        },
      },
      log: {
        ...log,
        async append(stream, data, options) {
          if (data.includes('elicitation/create') && !isOld) {
            isOld = true;
            await cluster.replicas[0]?.kill();
          }
          return log.append(stream, data, options);
        },
      },
    });
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'order', _meta: { progressToken: 1 } });
    const { id } = await next(events);
    const again = await b.resume(String(id));
    const messages = (await again.rest())
      .filter(({ data }) => data !== '')
      .map(({ data }) => JSON.parse(data));
    expect(messages.at(-1)).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('did not answer within 1800000 ms') },
    });
    await until('nobody watches the call any more', async () => (await store.size('call:replicated')) === 0);
  });

  test('announce the end of a URL elicitation that was accepted at another process', async () => {
    const [a, b] = await openAt(await start(), '2025-11-25');
    const events = await a.stream('tools/call', { name: 'login' });
    const { message } = await next(events);
    await b.post(accept(message['id']));
    expect((await next(events)).message).toMatchObject({
      method: 'notifications/elicitation/complete',
      params: { elicitationId: message['params'].elicitationId },
    });
    expect((await next(events)).message['result'].content[0].text).toBe('accept');
  });

  test('outlive a process that is shut down: its client resumes the stream at another one', async () => {
    const cluster = await start();
    const [a, b] = await openAt(cluster, '2025-11-25');
    const events = await a.stream('tools/call', { name: 'order' });
    const asked = await next(events);
    await cluster.replicas[0]?.close();
    expect(await events.rest()).toEqual([]);
    const again = await b.resume(String(asked.id));
    await b.post(accept(asked.message['id'], { name: 'Ada' }));
    await b.post(accept((await next(again)).message['id'], { ok: true }));
    expect((await next(again)).message['result'].content[0].text).toBe('done for Ada');
  });

  test('leave nothing behind in the store', async () => {
    const cluster = await start();
    const [a, b] = await openAt(cluster, '2025-11-25');
    for (let at = 1; at <= 5; at++) {
      const events = await a.stream('tools/call', { name: 'order', _meta: { progressToken: 1 } }, at);
      await b.post(accept((await nextOther(events)).message['id'], { name: 'Ada' }));
      await b.post(accept((await nextOther(events)).message['id'], { ok: true }));
      expect((await nextOther(events)).message['id']).toBe(at);
    }
    const rest = async (): Promise<string[]> => {
      const pages = ['asked:', 'running:', 'questions:'].map((prefix) => cluster.store.page(prefix));
      return (await Promise.all(pages)).flat().map(({ key }) => key);
    };
    await until('the store is empty', async () => (await rest()).length === 0);
    expect(await cluster.store.size('call:replicated')).toBe(0);
  });
});
