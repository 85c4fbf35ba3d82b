import { createServer, event, inProcess, type JsonObject, type Middleware, memoryStore } from 'fullmcp';
import {
  type AuditEntry,
  audit,
  type CallLog,
  cache,
  concurrency,
  logging,
  outputBudget,
  policy,
  rateLimit,
  sizeLimit,
  timeout,
} from 'fullmcp/middleware';
import { testClient, webhookReceiver } from 'fullmcp/testing';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/until.js';

// The calls of events that middleware sees, and how often. Deliveries are not calls.

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function makeDesk(use: readonly Middleware[], options: object = {}) {
  const desk = createServer({
    name: 'desk',
    version: '1',
    logger: () => undefined,
    secret: 'm'.repeat(40),
    use,
    ...options,
    events: {
      changed: event({ payload: z.object({ id: z.string(), text: z.string().optional() }) }),
    },
  });
  opened.push(() => desk.close());
  return desk;
}

const ADA = { caller: { subject: 'ada', scopes: [], claims: {} } };

/** Opens a stream, and returns the ids of its events and the function that ends it. */
async function streaming(ask: ReturnType<typeof inProcess>) {
  const stop = new AbortController();
  const told: { method: string; params: JsonObject | undefined }[] = [];
  const ended = ask(
    'events/stream',
    { name: 'changed' },
    { signal: stop.signal, onNotification: (method, params) => void told.push({ method, params }) },
  ).catch((error: unknown) => error);
  opened.push(async () => stop.abort());
  await until('the stream is active', () => told.length > 0);
  const ids = () => told.flatMap(({ params }) => params?.['eventId'] ?? []);
  return { ids, ended, end: () => stop.abort(), told };
}

test('a rate counts each request once, and no event that a stream or a webhook delivers', async () => {
  const hooks = await webhookReceiver();
  opened.push(hooks.close);
  const store = memoryStore();
  const desk = makeDesk([rateLimit('4/min')], { store, webhooks: { privateHosts: [hooks.url] } });
  const ask = inProcess(desk, ADA);
  await ask('events/list');
  const { ids } = await streaming(ask);
  await using client = await testClient(desk, { caller: { subject: 'bob' } });
  await hooks.subscribe(client, 'changed');
  for (let n = 0; n < 20; n++) await desk.emit('changed', { id: `T-${n}` }, { eventId: `e${n}` });
  await until('all events are streamed', () => ids().length === 20);
  for (let n = 0; n < 20; n++) await hooks.next(({ id }) => id === `e${n}`);
  await ask('events/poll', { name: 'changed' });
  await ask('events/poll', { name: 'changed' });
  await expect(ask('events/poll', { name: 'changed' })).rejects.toMatchObject({
    code: 'overloaded',
    status: 429,
  });
  await desk.emit('changed', { id: 'T-20' }, { eventId: 'e20' });
  await until('the stream goes on', () => ids().length === 21);
});

test('streams take no place of concurrency, and a timeout does not end them', async () => {
  const desk = makeDesk([timeout(50), concurrency({ limit: 1 })]);
  const ask = inProcess(desk);
  const streams = [await streaming(ask), await streaming(ask), await streaming(ask)];
  expect(await ask('events/poll', { name: 'changed' })).toHaveProperty('cursor');
  const from = performance.now();
  await until('the time limit has passed', () => performance.now() - from > 120);
  await desk.emit('changed', { id: 'T-1' }, { eventId: 'one' });
  for (const { ids } of streams) await until('the event has arrived', () => ids().length === 1);
});

test('audit and logging have an entry for each request with the name of its type, and no secret of a webhook', async () => {
  const entries: AuditEntry[] = [];
  const lines: CallLog[] = [];
  const hooks = await webhookReceiver();
  opened.push(hooks.close);
  const desk = makeDesk(
    [
      audit({ to: (written) => void entries.push(...written) }),
      logging({ log: (line) => void lines.push(line) }),
    ],
    { store: memoryStore(), webhooks: { privateHosts: [hooks.url] } },
  );
  await using client = await testClient(desk, { caller: { subject: 'ada' } });
  const ask = inProcess(desk, ADA);
  await ask('events/poll', { name: 'changed' });
  const stream = await streaming(ask);
  const { secret } = await hooks.subscribe(client, 'changed');
  await desk.emit('changed', { id: 'T-1' }, { eventId: 'one' });
  await hooks.next(({ id }) => id === 'one');
  await until('the event is streamed', () => stream.ids().length === 1);
  stream.end();
  await stream.ended;
  const about = (method: string) => lines.filter((line) => line.method === method);
  await until('all are logged', () => about('events/stream').length === 1);
  await until('all are in the audit log', () => entries.length >= 3);
  for (const method of ['events/poll', 'events/stream', 'events/subscribe']) {
    expect(about(method)).toMatchObject([{ target: 'changed' }]);
  }
  const text = JSON.stringify([entries, lines]);
  expect(text).toContain('"name":"changed"');
  expect(text).not.toContain(secret);
  expect(text.match(/"method":"events\/subscribe"/g)).toHaveLength(2);
});

test('a cache keeps no poll, and a budget for the output of tools shortens no event', async () => {
  const desk = makeDesk([
    sizeLimit({ maxParamsChars: 1000 }),
    outputBudget({ maxChars: 200, headChars: 50 }),
    cache({ ttlMs: 60_000 }),
  ]);
  const ask = inProcess(desk, ADA);
  const { cursor } = await ask('events/poll', { name: 'changed' });
  const poll = async () =>
    (await ask('events/poll', { name: 'changed', cursor }))['events'] as { data: { text: string } }[];
  expect(await poll()).toEqual([]);
  const text = 'x'.repeat(600);
  await desk.emit('changed', { id: 'T-1', text }, { eventId: 'one' });
  expect((await poll()).map(({ data }) => data.text)).toEqual([text]);
});

test('a policy for tools decides about no event, and middleware may refuse a stream', async () => {
  const refusing: Middleware = async (call, next) => {
    if (call.method === 'events/stream') throw new Error('no streams here');
    return next(call);
  };
  const desk = makeDesk([refusing], { access: policy({ default: 'deny', rules: [] }) });
  const ask = inProcess(desk, ADA);
  expect((await ask('events/list'))['events']).toHaveLength(1);
  expect(await ask('events/poll', { name: 'changed' })).toHaveProperty('cursor');
  await expect(ask('events/stream', { name: 'changed' })).rejects.toMatchObject({ code: 'internal_error' });
});
