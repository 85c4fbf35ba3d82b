import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, event, inProcess, type JsonObject, memoryStore } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { serve } from 'fullmcp/node';
import { proxy } from 'fullmcp/proxy';
import { testClient, wires } from 'fullmcp/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  eventServer,
  listed,
  occurrence,
  polls,
  type Speaker,
  speaker,
} from '../../support/events/event-server.js';
import { secretOf } from '../../support/events/receiver.js';
import { error, json } from '../../support/http/http-server.js';
import { soon, until } from '../../support/until.js';

const quiet = { version: '1', secret: 'g'.repeat(40), logger: () => undefined };
const payload = z.object({ id: z.string() });
const SEP = { extensions: { 'io.modelcontextprotocol/events': {} } };

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function makeDesk(options: object = {}) {
  return createServer({
    ...quiet,
    name: 'desk',
    ...options,
    events: {
      changed: event({
        description: 'A ticket changed',
        input: z.object({ queue: z.string().optional() }),
        payload: z.object({ id: z.string(), queue: z.string() }),
        match: (data, { queue }) => queue === undefined || data.queue === queue,
      }),
      closed: event({ payload }),
      hooked: event({ payload }),
    },
  });
}

const ticket = (id: string, queue = 'billing') => ({ id, queue });

type Ask = ReturnType<typeof inProcess>;
const eventsIn = async (ask: Ask) =>
  (await ask('events/list'))['events'] as { name: string; delivery: string[] }[];
const namesIn = async (ask: Ask) => (await eventsIn(ask)).map(({ name }) => name);

interface Told {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly params: any;
}

/** Opens a stream, and keeps what it tells. */
function streaming(ask: Ask, params: JsonObject) {
  const told: Told[] = [];
  const stop = new AbortController();
  const ended = ask('events/stream', params, {
    signal: stop.signal,
    onNotification: (method, values) =>
      void told.push({ method: method.replace('notifications/events/', ''), params: values }),
  });
  ended.catch(() => undefined);
  opened.push(async () => stop.abort());
  const ids = () => told.filter(({ method }) => method === 'event').map(({ params: { eventId } }) => eventId);
  const active = () => until('the stream is active', () => told.some(({ method }) => method === 'active'));
  return { told, ids, active, ended, stop };
}

const asCaller = (subject: string, capabilities = {}) => ({
  caller: { subject, scopes: [], claims: {} },
  capabilities,
});

describe('a proxy', () => {
  test.each(['2026-07-28', '2025-11-25'] as const)(
    'passes events on from a server of %s, by stream and by poll',
    async (revision) => {
      const desk = makeDesk();
      const served = await serve(desk, { port: 0, signals: false });
      opened.push(() => served.close());
      const front = proxy(String(served.url), { revision });
      opened.push(() => front.close());
      await using client = await testClient(front, { over: 'http' });
      expect((await client.events().all()).map(({ name }) => name)).toEqual(['changed', 'closed', 'hooked']);
      const seen: string[] = [];
      await client.on(
        'changed' as never,
        { queue: 'billing' } as never,
        ({ eventId }) => void seen.push(eventId),
      );
      await desk.emit('changed', ticket('T-1', 'other'), { eventId: 'one' });
      await desk.emit('changed', ticket('T-2'), { eventId: 'two' });
      await until('the event has arrived', () => seen.length > 0);
      expect(seen).toEqual(['two']);
      const { cursor } = await client.request('events/poll', { name: 'closed' });
      await desk.emit('closed', { id: 'C-1' }, { eventId: 'three' });
      const page = await client.request('events/poll', { name: 'closed', cursor });
      expect(page['events']).toMatchObject([{ eventId: 'three', name: 'closed' }]);
    },
  );

  test('opens a stream again where it was when the server has broken the connection, and says so', async () => {
    const streams: Speaker[] = [];
    await using upstream = await eventServer({
      events: [listed('tick', 'push')],
      answers: { stream: (request, response) => void streams.push(speaker(request, response)) },
    });
    const front = proxy(upstream.url);
    opened.push(() => front.close());
    const { told, ids } = streaming(inProcess(front), { name: 'tick', maxAgeMs: 1000, cursor: 'c0' });
    await until('the stream is open', () => streams.length === 1);
    streams[0]?.say('active', { cursor: 'c1', truncated: false });
    streams[0]?.say('event', occurrence('one', { cursor: 'c2' }));
    await until('the event has arrived', () => ids().length === 1);
    streams[0]?.drop();
    await until('it is open again', () => streams.length === 2);
    streams[1]?.say('active', { cursor: 'c2', truncated: false });
    streams[1]?.say('event', occurrence('two', { cursor: 'c3' }));
    await until('the next event has arrived', () => ids().length === 2);
    expect(told.map(({ method }) => method)).toEqual(['active', 'event', 'error', 'event']);
    const [first, second] = upstream.requests('stream').map(({ body }) => body?.params);
    expect(first).toMatchObject({ cursor: 'c0', maxAgeMs: 1000 });
    expect(second).toMatchObject({ cursor: 'c2' });
    expect(second).not.toHaveProperty('maxAgeMs');
    // The type has no positions: what happened in between is lost, and the caller learns it.
    streams[1]?.say('heartbeat', { cursor: null });
    await until('the heartbeat has arrived', () => told.at(-1)?.method === 'heartbeat');
    streams[1]?.drop();
    await until('it is open once more', () => streams.length === 3);
    streams[2]?.say('active', { cursor: null, truncated: false });
    await until('the gap is told', () => told.at(-1)?.method === 'active');
    expect(told.at(-1)?.params).toMatchObject({ cursor: null, truncated: true });
  });

  test('ends a stream that the server does not accept again', async () => {
    let isGone = false;
    const streams: Speaker[] = [];
    await using upstream = await eventServer({
      events: [listed('tick', 'push')],
      answers: {
        stream(request, response) {
          if (isGone) json(response, error(request, -32023, 'gone', { kind: 'event' }), 200);
          else streams.push(speaker(request, response));
        },
      },
    });
    const front = proxy(upstream.url);
    opened.push(() => front.close());
    const { told, ended } = streaming(inProcess(front), { name: 'tick' });
    await until('the stream is open', () => streams.length === 1);
    streams[0]?.say('active', { cursor: 'c1', truncated: false });
    await until('it is active', () => told.length === 1);
    isGone = true;
    streams[0]?.drop();
    expect(await soon('the end', ended)).toMatchObject({ resultType: 'complete' });
    // The server speaks the other dialect.
    expect(told.at(-1)).toMatchObject({ method: 'terminated', params: { error: { code: -32011 } } });
  });

  test('tells its caller that the server is busy, and opens the stream again when the server has room', async () => {
    let isBusy = false;
    const streams: Speaker[] = [];
    await using upstream = await eventServer({
      events: [listed('tick', 'push')],
      answers: {
        stream(request, response) {
          if (isBusy) json(response, error(request, -32025, 'Too many streams', { limit: 1 }), 200);
          else streams.push(speaker(request, response));
        },
      },
    });
    const front = proxy(upstream.url);
    opened.push(() => front.close());
    const { told, ids } = streaming(inProcess(front), { name: 'tick' });
    await until('the stream is open', () => streams.length === 1);
    streams[0]?.say('active', { cursor: 'c1', truncated: false });
    await until('it is active', () => told.length === 1);
    isBusy = true;
    streams[0]?.drop();
    await until('it was refused several times', () => upstream.requests('stream').length > 2);
    isBusy = false;
    await until('it is open again', () => streams.length === 2);
    streams[1]?.say('active', { cursor: 'c1', truncated: false });
    streams[1]?.say('event', occurrence('one', { cursor: 'c2' }));
    await until('the event has arrived', () => ids().length === 1);
    expect(told.map(({ method }) => method)).toEqual(['active', 'error', 'error', 'event']);
    expect(told[1]?.params.error.message).toContain('was lost');
    expect(told[2]?.params.error).toMatchObject({
      code: -32013,
      message: 'Too many streams',
      data: { limit: 1 },
    });
  });

  test('gives every caller the numbers of its dialect, and its own id to what a stream tells', async () => {
    await using upstream = await eventServer({
      answers: {
        poll: (request, response) => json(response, error(request, -32023, 'no', { kind: 'event' }), 200),
        stream(request, response) {
          const { say, end } = speaker(request, response);
          say('active', { cursor: 'c1', truncated: false });
          say('terminated', { error: { code: -32024, message: 'no' } });
          end();
        },
      },
    });
    const front = proxy(upstream.url);
    opened.push(() => front.close());
    const poll = (capabilities: object) => inProcess(front, { capabilities })('events/poll', { name: 'x' });
    await expect(poll({})).rejects.toMatchObject({ number: -32011 });
    await expect(poll(SEP)).rejects.toMatchObject({ number: -32023 });
    const ask = inProcess(front);
    await expect(ask('events/poll', { name: 'x' })).rejects.toThrow();
    const { told, ended } = streaming(ask, { name: 'x' });
    await ended;
    expect(told).toMatchObject([
      { method: 'active', params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 2 } } },
      { method: 'terminated', params: { error: { code: -32012 } } },
    ]);
  });

  test('passes webhooks on only if the server knows the caller, because it would take all callers for one', async () => {
    const subscribed: unknown[] = [];
    await using upstream = await eventServer({
      events: [listed('tick', 'webhook', 'push'), listed('hooked', 'webhook')],
      answers: {
        subscribe(request, response) {
          subscribed.push(request.headers['authorization']);
          json(response, {
            jsonrpc: '2.0',
            id: request.body?.id,
            result: { resultType: 'complete', id: 'sub_1' },
          });
        },
      },
    });
    const delivery = { mode: 'webhook', url: 'https://hooks.example.com/1', secret: secretOf(1) };
    const nobody = proxy(upstream.url);
    const known = proxy(upstream.url, {
      identity: ({ auth }) =>
        auth && { key: auth.subject, headers: { authorization: `Bearer ${auth.subject}` } },
    });
    opened.push(
      () => nobody.close(),
      () => known.close(),
    );
    const ada = asCaller('ada');
    expect(await eventsIn(inProcess(nobody, ada))).toMatchObject([{ name: 'tick', delivery: ['push'] }]);
    await expect(
      inProcess(nobody, ada)('events/subscribe', { name: 'tick', delivery }),
    ).rejects.toMatchObject({
      number: -32014,
    });
    await expect(
      inProcess(nobody, ada)('events/unsubscribe', { name: 'tick', delivery }),
    ).rejects.toMatchObject({
      number: -32011,
    });
    expect(await namesIn(inProcess(known, ada))).toEqual(['tick', 'hooked']);
    await inProcess(known, ada)('events/subscribe', { name: 'tick', delivery });
    await expect(inProcess(known)('events/subscribe', { name: 'tick', delivery })).rejects.toMatchObject({
      number: -32014,
    });
    expect(subscribed).toEqual(['Bearer ada']);
  });
});

function makeHub(servers: Readonly<Record<string, object>>, options: GatewayOptions = {}) {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, target]) => [
      name,
      typeof target === 'string' ? { url: target } : { target },
    ]),
  );
  const hub = gateway({ mcpServers } as never, { logger: () => undefined, ...options });
  opened.push(() => hub.close());
  return hub;
}

describe('a gateway', () => {
  test('lists the events of its servers with their prefixes, without webhooks, and asks no server that has none', async () => {
    const asked: string[] = [];
    const plain = createServer({
      ...quiet,
      name: 'plain',
      use: [
        async (call, next) => {
          asked.push(call.method);
          return next(call);
        },
      ],
    });
    const hooked = createServer({
      ...quiet,
      name: 'hooked',
      webhooks: {},
      events: { sent: event({ payload, delivery: ['webhook'] }), both: event({ payload }) },
    });
    const hub = makeHub({ desk: makeDesk(), plain, hooked });
    const ask = inProcess(hub);
    await ask('tools/list');
    asked.length = 0;
    expect(await eventsIn(ask)).toMatchObject([
      { name: 'desk_changed', delivery: ['push', 'poll'] },
      { name: 'desk_closed' },
      { name: 'desk_hooked' },
      { name: 'hooked_both', delivery: ['push', 'poll'] },
    ]);
    expect(asked).toEqual([]);
    const { capabilities } = await ask('server/discover');
    expect(capabilities).toMatchObject({ events: {}, extensions: SEP.extensions });
    const only = inProcess(makeHub({ plain }));
    await only('tools/list');
    expect((await only('server/discover'))['capabilities']).not.toHaveProperty('events');
  });

  test.each(wires)('tells clients over $name', async ({ over, revision }) => {
    const desk = makeDesk();
    await using client = await testClient(makeHub({ desk }), { over, revision });
    await using events = await client.collect('desk_changed', { queue: 'billing' });
    await desk.emit('changed', ticket('T-1', 'other'), { eventId: 'one' });
    await desk.emit('changed', ticket('T-2'), { eventId: 'two' });
    expect(await events.next()).toMatchObject({ eventId: 'two', name: 'desk_changed', data: { id: 'T-2' } });
  });

  test('ends the streams of a server that is removed from its config', async () => {
    const [desk, other] = [makeDesk(), makeDesk()];
    const hub = makeHub({ desk, other });
    const ask = inProcess(hub);
    const { ended, active } = streaming(ask, { name: 'desk_changed' });
    await active();
    const end = ended.catch((error: unknown) => error);
    await hub.reload({ mcpServers: { other: { target: other } } } as never);
    expect(await soon('the end', end)).toMatchObject({ code: 'connection_closed' });
    await expect(ask('events/stream', { name: 'desk_changed' })).rejects.toMatchObject({ number: -32011 });
  });

  test('passes streams and polls on, with its names in both directions', async () => {
    const desk = makeDesk();
    const ask = inProcess(makeHub({ desk, other: makeDesk() }));
    const { told, ids, active } = streaming(ask, { name: 'desk_changed', arguments: { queue: 'billing' } });
    await active();
    const { cursor } = await ask('events/poll', { name: 'desk_changed' });
    await desk.emit('changed', ticket('T-1', 'other'), { eventId: 'one' });
    await desk.emit('changed', ticket('T-2'), { eventId: 'two' });
    await until('the event has arrived', () => ids().length > 0);
    expect(told.at(-1)?.params).toMatchObject({ eventId: 'two', name: 'desk_changed', data: { id: 'T-2' } });
    expect((await ask('events/poll', { name: 'desk_changed', cursor }))['events']).toMatchObject([
      { eventId: 'one', name: 'desk_changed' },
      { eventId: 'two', name: 'desk_changed' },
    ]);
    await expect(ask('events/poll', { name: 'desk_nothing' })).rejects.toMatchObject({ number: -32011 });
    await expect(ask('events/poll', { name: 'nobody_changed' })).rejects.toMatchObject({ number: -32011 });
    await expect(ask('events/poll', { name: 'desk_changed', arguments: { queue: 7 } })).rejects.toMatchObject(
      {
        code: 'invalid_params',
        data: { name: 'desk_changed', field: 'queue' },
      },
    );
    const delivery = { mode: 'webhook', url: 'https://hooks.example.com/1', secret: secretOf(1) };
    const subscribe = (name: string) => ask('events/subscribe', { name, delivery });
    await expect(subscribe('desk_changed')).rejects.toMatchObject({ number: -32014 });
    await expect(subscribe('desk_nothing')).rejects.toMatchObject({ number: -32011 });
    await expect(ask('events/unsubscribe', { name: 'desk_changed', delivery })).rejects.toMatchObject({
      number: -32011,
    });
  });

  test('hides what the rule does not allow, and ends the stream of a caller that loses the right', async () => {
    const desk = makeDesk();
    const allowed = new Set(['ada', 'eve']);
    const hub = makeHub(
      { desk },
      {
        allow: ({ kind, name }, caller) =>
          kind === 'event' && name !== 'closed' && allowed.has(caller?.subject ?? ''),
      },
    );
    const [ada, eve] = [inProcess(hub, asCaller('ada')), inProcess(hub, asCaller('eve', SEP))];
    expect(await namesIn(ada)).toEqual(['desk_changed', 'desk_hooked']);
    await expect(ada('events/poll', { name: 'desk_closed' })).rejects.toMatchObject({ number: -32011 });
    await expect(ada('events/stream', { name: 'desk_closed' })).rejects.toMatchObject({ number: -32011 });
    const streams = [streaming(ada, { name: 'desk_changed' }), streaming(eve, { name: 'desk_changed' })];
    for (const { active } of streams) await active();
    allowed.delete('eve');
    await desk.emit('changed', ticket('T-1'), { eventId: 'one' });
    await until('the caller with the right has it', () => streams[0]?.ids().length === 1);
    await soon('the end of the other stream', streams[1]?.ended as Promise<unknown>);
    expect(streams[1]?.ids()).toEqual([]);
    expect(streams[1]?.told.at(-1)).toMatchObject({
      method: 'terminated',
      params: { error: { code: -32024, data: { reason: 'access_lost' } } },
    });
    expect(await namesIn(eve)).toEqual([]);
  });

  test('leaves out what a server tells that is malformed or of another type, and what is not an event', async () => {
    const problems: string[] = [];
    await using upstream = await eventServer({
      events: [listed('tick', 'push', 'poll'), listed('tock', 'poll'), { name: 7 }, 'x' as never],
      answers: {
        poll: polls({
          events: [
            occurrence('one', { cursor: 'c1' }),
            occurrence('two', { name: 'tock' }),
            { ...occurrence('three'), data: 'text' },
            null,
          ],
          cursor: 'c2',
        }),
        stream(request, response) {
          const { say } = speaker(request, response);
          say('active', { cursor: 'c1', truncated: false });
          say('event', occurrence('x'.repeat(5000)));
          say('event', occurrence('two', { name: 'desk_tock' }));
          say('list_changed');
          say('made_up', { cursor: 'c9' });
          say('event', occurrence('four', { timestamp: 'yesterday' }));
          say('event', occurrence('five', { cursor: 'c5' }));
        },
      },
    });
    const hub = makeHub(
      { desk: upstream.url as never },
      { logger: (_, message) => void problems.push(message) },
    );
    const ask = inProcess(hub);
    expect(await namesIn(ask)).toEqual(['desk_tick', 'desk_tock']);
    const page = await ask('events/poll', { name: 'desk_tick' });
    expect(page).toMatchObject({ events: [{ eventId: 'one', name: 'desk_tick' }], cursor: 'c2' });
    expect((page['events'] as unknown[]).length).toBe(1);
    const { told, ids } = streaming(ask, { name: 'desk_tick' });
    await until('the good event has arrived', () => ids().includes('five'));
    expect(told.map(({ method }) => method)).toEqual(['active', 'event']);
    expect(problems.some((line) => line.includes('an event of the type "tick" is left out'))).toBe(true);
  });

  test('ends a stream whose server is faster than its rule, so that the caller continues after its cursor', async () => {
    const flood = 5000;
    await using upstream = await eventServer({
      events: [listed('tick', 'push')],
      answers: {
        stream(request, response) {
          const { say } = speaker(request, response);
          say('active', { cursor: 'c0', truncated: false });
          for (let n = 1; n <= flood; n++) say('event', occurrence(`e${n}`, { cursor: `c${n}` }));
        },
      },
    });
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let checks = 0;
    const hub = makeHub(
      { desk: upstream.url as never },
      {
        async allow() {
          if (++checks > 1) await gate;
          return true;
        },
      },
    );
    const { ended, ids } = streaming(inProcess(hub, asCaller('ada')), { name: 'desk_tick' });
    const end = ended.catch((reason: unknown) => reason);
    await until('the rule is asked again', () => checks > 1);
    setTimeout(release, 300);
    expect(await soon('the end', end)).toMatchObject({ code: 'overloaded' });
    expect(ids().length).toBeLessThanOrEqual(1000);
  });

  test('holds a type back that was changed after it was pinned, and tells of it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'event-pins-')), 'lock.json');
    const changes: unknown[] = [];
    const pins = { file, onChange: (change: unknown) => void changes.push(change) };
    const desk = makeDesk();
    const first = makeHub({ desk }, { pins });
    expect(await namesIn(inProcess(first))).toEqual(['desk_changed', 'desk_closed', 'desk_hooked']);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).servers.desk.events)).toEqual([
      'changed',
      'closed',
      'hooked',
    ]);
    desk.event('later', event({ payload }));
    const second = makeHub({ desk }, { pins });
    const ask = inProcess(second);
    expect(await namesIn(ask)).toEqual(['desk_changed', 'desk_closed', 'desk_hooked']);
    await expect(ask('events/poll', { name: 'desk_later' })).rejects.toMatchObject({ number: -32011 });
    await expect(ask('events/stream', { name: 'desk_later' })).rejects.toMatchObject({ number: -32011 });
    expect(changes).toEqual([{ server: 'desk', kind: 'event', name: 'later', change: 'added' }]);
    await second.accept('desk');
    expect(await namesIn(ask)).toContain('desk_later');
  });

  test('asks as the caller, and tells its subscribers that the types have changed', async () => {
    const callers = new Set<string | undefined>();
    const desk = makeDesk({
      changes: ['events'],
      use: [
        async (call: { method: string; auth?: { subject: string } }, next: (call: unknown) => unknown) => {
          if (call.method.startsWith('events/')) callers.add(call.auth?.subject);
          return next(call);
        },
      ],
    });
    const hub = makeHub({ desk }, { identity: ({ auth }) => auth && { key: auth.subject, caller: auth } });
    const ask = inProcess(hub, asCaller('ada'));
    const { active } = streaming(ask, { name: 'desk_changed' });
    await active();
    expect([...callers]).toEqual(['ada']);
    const told: string[] = [];
    const stop = new AbortController();
    opened.push(async () => stop.abort());
    ask(
      'subscriptions/listen',
      { notifications: { eventsListChanged: true } },
      { signal: stop.signal, onNotification: (method) => void told.push(method) },
    ).catch(() => undefined);
    await until('the subscription is open', () => told.length === 1);
    desk.event('later', event({ payload }));
    await until('the change is told', () => told.includes('notifications/events/list_changed'));
    expect(await namesIn(ask)).toContain('desk_later');
  });
});

describe('a client of several servers', () => {
  test('lists and follows the events of all of them, by their names in the group', async () => {
    const [desk, shop] = [makeDesk(), makeDesk()];
    const served = await serve(shop, { port: 0, signals: false });
    opened.push(() => served.close());
    const plain = createServer({ ...quiet, name: 'plain', store: memoryStore() });
    await using client = await connect({
      mcpServers: { desk: { target: desk }, shop: { url: String(served.url) }, plain: { target: plain } },
    } as never);
    expect((await client.events().all()).map(({ name }) => name)).toEqual([
      ...['desk_changed', 'desk_closed', 'desk_hooked'],
      ...['shop_changed', 'shop_closed', 'shop_hooked'],
    ]);
    const seen: string[] = [];
    const keep = ({ name, eventId }: { name: string; eventId: string }) =>
      void seen.push(`${name} ${eventId}`);
    await client.on('desk_changed' as never, { queue: 'billing' } as never, keep as never);
    const atShop = await client.on('shop_changed' as never, {} as never, keep as never);
    await desk.emit('changed', ticket('T-0', 'other'), { eventId: 'zero' });
    await desk.emit('changed', ticket('T-1'), { eventId: 'one' });
    await until('the first event has arrived', () => seen.length === 1);
    await shop.emit('changed', ticket('T-2'), { eventId: 'two' });
    await until('the second event has arrived', () => seen.length === 2);
    expect(seen).toEqual(['desk_changed one', 'shop_changed two']);
    await atShop.close();
    await expect(client.on('plain_changed' as never, {} as never, keep as never)).rejects.toThrow(
      'lists no events',
    );
    const { cursor } = await client.request('events/poll', { name: 'shop_closed' });
    await shop.emit('closed', { id: 'C-1' }, { eventId: 'three' });
    expect((await client.request('events/poll', { name: 'shop_closed', cursor }))['events']).toMatchObject([
      { name: 'shop_closed', eventId: 'three' },
    ]);
  });
});
