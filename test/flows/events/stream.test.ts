import { memoryStore, type Store } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { openSession } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';
import {
  definitions,
  makeDesk,
  messagesOf,
  type ServedDesk,
  type Stream,
  type Streamed,
  serveDesk,
} from './desk.js';

// The checks of the draft scenario `events-push`, over real HTTP. Their names are in the tests.

const open: ServedDesk[] = [];
async function serveLater(...args: Parameters<typeof serveDesk>): Promise<ServedDesk> {
  const desk = await serveDesk(...args);
  open.push(desk);
  return desk;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((desk) => desk.close()));
});

const TAG = 'io.modelcontextprotocol/subscriptionId';

/** Opens a stream, and reads its confirmation. */
async function begin(
  desk: ServedDesk,
  params: object,
  id: unknown = 1,
): Promise<{ stream: Stream; cursor: string }> {
  const stream = await desk.stream(params, { id });
  const { method, params: confirmed } = (await stream.next()) as Streamed;
  expect(method).toBe('notifications/events/active');
  expect(confirmed._meta[TAG]).toBe(id);
  expect(confirmed.truncated).toBe(false);
  return { stream, cursor: confirmed.cursor };
}

async function nextEvent(stream: Stream): Promise<Streamed> {
  const message = (await stream.next()) as Streamed;
  expect(message.method).toBe('notifications/events/event');
  return message;
}

describe('A stream of events over HTTP', () => {
  test('confirms itself, then carries events in order with its id (stream-implemented, -active-confirmation, -subscription-id-meta, -event-notification)', async () => {
    const desk = await serveLater();
    const { stream, cursor } = await begin(desk, { name: 'ticket_changed' }, 'seven');
    expect(typeof cursor).toBe('string');
    for (const id of ['a', 'b', 'c']) await desk.server.emit('ticket_changed', { id }, { eventId: id });
    for (const id of ['a', 'b', 'c'])
      expect((await nextEvent(stream)).params).toEqual({
        eventId: id,
        name: 'ticket_changed',
        timestamp: expect.any(String),
        data: { id },
        cursor: expect.any(String),
        _meta: { [TAG]: 'seven' },
      });
    stream.drop();
  });

  test('is answered with an error, and no stream, if it cannot begin (stream-error-before-open)', async () => {
    const desk = await serveLater();
    for (const [params, code] of [
      [{ name: 'nothing' }, -32011],
      [{}, -32602],
      [{ name: 'ticket_changed', arguments: { queue: 1 } }, -32602],
      [{ name: 'polled' }, -32014],
    ] as const) {
      const { status, error } = await desk.ask('events/stream', params);
      expect({ status, code: error?.code }).toEqual({ status: 200, code });
    }
    const { status } = await desk.ask(
      'events/stream',
      { name: 'pushed' },
      { headers: { accept: 'application/json' } },
    );
    expect(status).toBe(406);
  });

  test('resumes after its cursor, and hears of what it missed (resume)', async () => {
    const desk = await serveLater();
    const { stream, cursor } = await begin(desk, { name: 'ticket_changed' });
    stream.drop();
    for (const id of ['a', 'b']) await desk.server.emit('ticket_changed', { id });
    const resumed = await begin(desk, { name: 'ticket_changed', cursor });
    expect((await nextEvent(resumed.stream)).params.data).toEqual({ id: 'a' });
    const { params } = await nextEvent(resumed.stream);
    expect(params.data).toEqual({ id: 'b' });
    resumed.stream.drop();
    const late = await begin(desk, { name: 'ticket_changed', cursor: params.cursor });
    await desk.server.emit('ticket_changed', { id: 'c' });
    expect((await nextEvent(late.stream)).params.data).toEqual({ id: 'c' });
    late.stream.drop();
  });

  test('with an unknown cursor is truncated and begins now', async () => {
    const desk = await serveLater();
    const stream = await desk.stream({ name: 'ticket_changed', cursor: 'unknown' });
    expect(await stream.next()).toMatchObject({ params: { truncated: true, cursor: expect.any(String) } });
    await desk.server.emit('ticket_changed', { id: 'a' });
    expect((await nextEvent(stream)).params.data).toEqual({ id: 'a' });
    stream.drop();
  });

  test('carries only the events that match its arguments', async () => {
    const desk = await serveLater();
    const { stream } = await begin(desk, { name: 'ticket_changed', arguments: { queue: 'billing' } });
    for (const queue of ['sales', 'billing']) await desk.server.emit('ticket_changed', { id: queue, queue });
    expect((await nextEvent(stream)).params.data.id).toBe('billing');
    stream.drop();
  });

  test('may be one of many at once (stream-exempt-from-concurrency-cap)', async () => {
    const desk = await serveLater();
    const streams = await Promise.all(
      Array.from({ length: 40 }, (_, id) => begin(desk, { name: 'pushed' }, id)),
    );
    await desk.server.emit('pushed', { id: 'all' });
    for (const { stream } of streams) {
      expect((await nextEvent(stream)).params.data.id).toBe('all');
      stream.drop();
    }
  });

  test('ends when its client leaves (stream-cancel-stops-delivery)', async () => {
    const store = memoryStore();
    let reads = 0;
    const desk = await serveLater({
      store: {
        ...store,
        items: (...args) => {
          reads++;
          return store.items(...args);
        },
      },
    });
    const { stream } = await begin(desk, { name: 'pushed' });
    stream.drop();
    await until('nothing reads the log any more', async () => {
      const before = reads;
      await desk.server.emit('pushed', { id: 'x' });
      await new Promise(setImmediate);
      return reads === before;
    });
  });

  test('ends with an error and its result when its type is removed (stream-terminated-ends-subscription, -final-result-shape)', async () => {
    const desk = await serveLater();
    const registration = desk.server.event('short_lived', definitions.pushed);
    const { stream } = await begin(desk, { name: 'short_lived' });
    await desk.server.emit('short_lived' as never, { id: 'a' } as never);
    await nextEvent(stream);
    registration.remove();
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/terminated',
      params: { error: { code: -32011, data: { kind: 'event' } }, _meta: { [TAG]: 1 } },
    });
    const { result } = (await stream.next()) as Streamed;
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [TAG]: 1 } });
    expect(Object.keys(result).sort()).toEqual(['_meta', 'resultType']);
    expect(await stream.next()).toBeUndefined();
  });

  test('tells of a store that fails once, stays open, and goes on (stream-error-is-recoverable)', async () => {
    const store = memoryStore();
    let isBroken = false;
    const failing: Store = {
      ...store,
      items: async (...args) => {
        if (isBroken) throw new Error('The disk is on fire');
        return store.items(...args);
      },
    };
    const desk = await serveLater({ store: failing });
    const { stream } = await begin(desk, { name: 'pushed' });
    isBroken = true;
    for (const id of ['a', 'b']) await desk.server.emit('pushed', { id });
    const failure = (await stream.next()) as Streamed;
    expect(failure).toMatchObject({
      method: 'notifications/events/error',
      params: { error: { code: -32603 } },
    });
    expect(JSON.stringify(failure)).not.toContain('fire');
    isBroken = false;
    await desk.server.emit('pushed', { id: 'c' });
    for (const id of ['a', 'b', 'c']) expect((await nextEvent(stream)).params.data.id).toBe(id);
    stream.drop();
  });

  test('is confirmed again with a fresh cursor after a gap (stream-gap-resends-active)', async () => {
    const store = memoryStore();
    const lists = new Set<string>();
    let isLate = false;
    const desk = await serveLater({
      store: {
        ...store,
        async write(changes, options) {
          for (const change of changes) if (change.do === 'append') lists.add(change.list);
          return store.write(changes, options);
        },
        async items(list, options) {
          if (isLate && list.startsWith('event-log:')) throw new Error('The store is slow');
          return store.items(list, options);
        },
      },
    });
    const { stream } = await begin(desk, { name: 'pushed' });
    isLate = true;
    await desk.server.emit('pushed', { id: 'lost' });
    expect(((await stream.next()) as Streamed).method).toBe('notifications/events/error');
    for (const list of lists) if (list.startsWith('event-log:')) await store.write([{ do: 'drop', list }]);
    isLate = false;
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/active',
      params: { truncated: true, cursor: expect.any(String), _meta: { [TAG]: 1 } },
    });
    await desk.server.emit('pushed', { id: 'kept' });
    expect((await nextEvent(stream)).params.data.id).toBe('kept');
    stream.drop();
  });

  test('ends with a result when the server shuts down', async () => {
    const desk = await serveLater();
    const { stream } = await begin(desk, { name: 'pushed' });
    const closing = desk.close();
    const message = (await stream.next()) as Streamed;
    expect(message.result).toMatchObject({ resultType: 'complete' });
    await closing;
  });
});

describe('A change of the list of types', () => {
  test('is announced to those that asked for it (list-changed-notification)', async () => {
    const desk = await serveLater({}, makeDesk({ changes: ['events'] }));
    const { modernStream } = await import('../../support/http/modern.js');
    const listening = messagesOf(
      await modernStream(desk.url, 'subscriptions/listen', {
        notifications: { eventsListChanged: true, toolsListChanged: true },
      }),
    );
    expect(((await listening.next()) as Streamed).params.notifications).toEqual({ eventsListChanged: true });
    desk.server.event('another', definitions.polled);
    expect(((await listening.next()) as Streamed).method).toBe('notifications/events/list_changed');
    listening.drop();
  });

  test('is not granted by a server that has no events', async () => {
    const { createServer } = await import('fullmcp');
    const desk = await serveLater(
      {},
      createServer({ name: 'plain', version: '1', changes: true, logger: () => undefined }) as never,
    );
    const { modernStream } = await import('../../support/http/modern.js');
    const listening = messagesOf(
      await modernStream(desk.url, 'subscriptions/listen', { notifications: { eventsListChanged: true } }),
    );
    expect(((await listening.next()) as Streamed).params.notifications).toEqual({});
    const { status, error } = await desk.ask('events/list');
    expect({ status, code: error?.code }).toEqual({ status: 404, code: -32601 });
    const { result } = await desk.ask('server/discover');
    expect(result.capabilities.events).toBeUndefined();
    expect(result.capabilities.extensions).toBeUndefined();
  });
});

describe.each(['2025-11-25', '2025-06-18', '2025-03-26'])('In a session of %s', (revision) => {
  test('events are declared, listed, polled and streamed, without resultType, with the numbers of the sketch', async () => {
    const desk = await serveLater();
    const session = await openSession(desk.url, revision);
    expect((session.initialized['capabilities'] as Record<string, unknown>)['events']).toEqual({});
    const ask = async (method: string, params: object) =>
      JSON.parse((await session.request(method, params)).text);
    const { result: list } = await ask('events/list', {});
    expect(list.events.length).toBe(3);
    expect(list.resultType).toBeUndefined();
    const { result: first } = await ask('events/poll', { name: 'ticket_changed' });
    expect(first).toMatchObject({ events: [], truncated: false });
    expect(first.resultType).toBeUndefined();
    const stream = messagesOf(await session.stream('events/stream', { name: 'ticket_changed' }, 'my-stream'));
    expect(await stream.next()).toMatchObject({
      method: 'notifications/events/active',
      params: { _meta: { [TAG]: 'my-stream' } },
    });
    await desk.server.emit('ticket_changed', { id: 'a' });
    expect((await nextEvent(stream)).params).toMatchObject({
      data: { id: 'a' },
      _meta: { [TAG]: 'my-stream' },
    });
    const { result: polled } = await ask('events/poll', { name: 'ticket_changed', cursor: first.cursor });
    expect(polled.events[0].data).toEqual({ id: 'a' });
    expect((await ask('events/poll', { name: 'nothing' })).error).toMatchObject({ code: -32011 });
    await session.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'my-stream' },
    });
    const rest = await stream.next();
    if (rest !== undefined) expect(rest.result?.resultType).toBeUndefined();
    expect(await stream.next()).toBeUndefined();
  });

  test('a change of the list is an ordinary notification', async () => {
    const desk = await serveLater({}, makeDesk({ changes: ['events'] }));
    const session = await openSession(desk.url, revision);
    const stream = messagesOf(await session.get());
    await until('the session listens', async () => {
      const registration = desk.server.event(`type-${crypto.randomUUID()}`, definitions.polled);
      registration.remove();
      return true;
    });
    let n = 0;
    const adding = setInterval(() => desk.server.event(`more-${n++}`, definitions.polled), 20);
    const message = (await stream.next()) as Streamed;
    clearInterval(adding);
    expect(message.method).toBe('notifications/events/list_changed');
    stream.drop();
  });
});
