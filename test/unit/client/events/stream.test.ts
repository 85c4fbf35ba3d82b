import { expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';
import {
  type EventServer,
  eventServer,
  listed,
  occurrence,
  type Speaker,
  speaker,
} from '../../../support/events/event-server.js';
import { error, json, result } from '../../../support/http/http-server.js';
import { soon, until } from '../../../support/until.js';

const events = [listed('tick', 'push', 'poll')];

interface Speaking {
  readonly server: EventServer;
  /** The streams so far, the latest last. */
  readonly streams: readonly Speaker[];
}

/** A server whose streams a test speaks on. Each is confirmed with the position that it was opened with. */
async function speaking(first = 'c0'): Promise<Speaking> {
  const streams: Speaker[] = [];
  const server = await eventServer({
    events,
    answers: {
      stream(request, response) {
        const stream = speaker(request, response);
        streams.push(stream);
        stream.say('active', { cursor: request.body?.params.cursor ?? first, truncated: false });
      },
    },
  });
  return { server, streams };
}

const cursorsOf = (server: EventServer): unknown[] =>
  server.requests('stream').map(({ body }) => body?.params.cursor);

test('a subscription takes the stream of a type that has both, and has no timeout', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url, { timeoutMs: 500, maxTimeoutMs: 500 });
  const seen: unknown[] = [];
  const subscription = await client.on('tick', { queue: 'a' }, (event) => void seen.push(event));
  expect(subscription.delivery).toBe('push');
  await until('the time of a call is over', () => (client.pending()[0]?.sinceMs ?? 0) > 600);
  streams[0]?.say('event', occurrence('1', { cursor: 'c1', _meta: { a: 1 } }));
  await until('it has arrived', () => seen.length === 1);
  expect(seen[0]).toEqual({
    eventId: '1',
    name: 'tick',
    timestamp: '2026-10-26T07:33:19Z',
    data: { id: '1' },
    cursor: 'c1',
    meta: { a: 1 },
  });
  expect(server.requests('stream')[0]?.body?.params).toMatchObject({
    name: 'tick',
    arguments: { queue: 'a' },
  });
  await subscription.close();
  await until('the stream is closed', () => client.pending().length === 0);
  await server.quiet();
});

test('a stream that breaks is opened again from the last position, of an event or a heartbeat', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  const seen: string[] = [];
  await client.on('tick', {}, ({ eventId }) => void seen.push(eventId));
  streams[0]?.say('event', occurrence('1', { cursor: 'c1' }));
  await until('it has arrived', () => seen.length === 1);
  streams[0]?.drop();
  await until('there is a second stream', () => streams.length === 2);
  streams[1]?.say('heartbeat', { cursor: 'c2' });
  streams[1]?.say('event', occurrence('1', { cursor: 'c3' }));
  streams[1]?.say('event', occurrence('2'));
  await until('the second has arrived', () => seen.length === 2);
  streams[1]?.end();
  await until('there is a third stream', () => streams.length === 3);
  expect(cursorsOf(server)).toEqual([null, 'c1', 'c3']);
  expect(seen).toEqual(['1', '2']);
});

test('a null position is sent as null, and never replaced by an older one', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  await client.on('tick', {}, () => {});
  streams[0]?.say('heartbeat', { cursor: null });
  streams[0]?.end();
  await until('there is a second stream', () => streams.length === 2);
  streams[1]?.say('heartbeat', {});
  streams[1]?.end();
  await until('there is a third stream', () => streams.length === 3);
  expect(cursorsOf(server)).toEqual([null, null, null]);
});

test('a silent stream is opened again after twice the interval of its heartbeats', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  await client.on('tick', {}, () => {});
  streams[0]?.say('heartbeat', { cursor: 'h1' });
  streams[0]?.say('heartbeat', { cursor: 'h2' });
  await until('there is a second stream', () => streams.length === 2);
  expect(cursorsOf(server)).toEqual([null, 'h2']);
  expect(problems[0]).toMatch(/The stream of tick was silent for \d+ ms/);
  await until('the first stream is closed', () => client.pending().length === 1);
});

test('a gap is reported, and the fresh position is used', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  let gaps = 0;
  await client.on('tick', {}, () => {}, { onGap: () => void gaps++ });
  streams[0]?.say('active', { cursor: 'fresh', truncated: true });
  await until('the gap was reported', () => gaps === 1);
  streams[0]?.end();
  await until('there is a second stream', () => streams.length === 2);
  expect(cursorsOf(server)).toEqual([null, 'fresh']);
  expect(gaps).toBe(1);
});

test('an error leaves the stream open and is a problem; notifications of another request are dropped', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  const seen: string[] = [];
  const causes: unknown[] = [];
  client.on('problem', ({ cause }) => causes.push(cause));
  await client.on('tick', {}, ({ eventId }) => void seen.push(eventId));
  streams[0]?.say('error', { error: { code: -32603, message: 'upstream is slow' } });
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 999 };
  streams[0]?.say('heartbeat', { cursor: 'of another', _meta });
  streams[0]?.say('event', { ...occurrence('other'), _meta });
  streams[0]?.say('event', occurrence('1'));
  await until('it has arrived', () => seen.length === 1);
  expect(seen).toEqual(['1']);
  expect(causes).toMatchObject([{ message: 'upstream is slow' }]);
  streams[0]?.end();
  await until('there is a second stream', () => streams.length === 2);
  expect(cursorsOf(server)).toEqual([null, 'c0']);
});

test('a subscription that is terminated for a change of its type lists and subscribes again', async () => {
  for (const code of [-32011, -32023, -32014, -32026]) {
    const { server, streams } = await speaking();
    await using _server = server;
    await using client = await connect(server.url);
    await client.on('tick', {}, () => {});
    streams[0]?.say('terminated', {
      error: { code, message: 'changed', data: { reason: 'schema_changed' } },
    });
    await until('there is a second stream', () => streams.length === 2);
    expect(server.requests('list')).toHaveLength(2);
    expect(cursorsOf(server)).toEqual([null, 'c0']);
  }
});

test('a subscription whose caller lost the right ends with the error', async () => {
  for (const code of [-32012, -32024]) {
    const { server, streams } = await speaking();
    await using _server = server;
    await using client = await connect(server.url);
    const subscription = await client.on('tick', {}, () => {});
    streams[0]?.say('terminated', { error: { code, message: 'no longer yours' } });
    expect(await soon('the end', subscription.ended)).toMatchObject({
      number: code,
      message: 'no longer yours',
    });
    expect(streams).toHaveLength(1);
  }
});

test('a type that has no streams any more is polled', async () => {
  let isPushed = true;
  const server = await eventServer({
    events: (request, response) =>
      json(response, result(request, { events: [listed('tick', isPushed ? 'push' : 'poll')] })),
    answers: {
      stream(request, response) {
        if (!isPushed) return json(response, error(request, -32014, 'no', { feature: 'deliveryMode' }));
        isPushed = false;
        const stream = speaker(request, response);
        stream.say('active', { cursor: 'c0', truncated: false });
        stream.end();
      },
      poll: (request, response) => json(response, result(request, { events: [], cursor: 'p' })),
    },
  });
  await using _server = server;
  await using client = await connect(server.url);
  const subscription = await client.on('tick', {}, () => {});
  await until('it is polled', () => server.requests('poll').length === 1);
  expect(server.requests('poll')[0]?.body?.params.cursor).toBe('c0');
  expect(subscription.delivery).toBe('poll');
});

test('a stream whose handler does not keep up is closed, and continues from where it was', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  let release!: () => void;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let count = 0;
  await client.on('tick', {}, async () => {
    count++;
    await held;
  });
  for (let n = 0; n < 3000; n++) streams[0]?.say('event', occurrence(`${n}`, { cursor: `c${n}` }));
  await until('the stream is closed', () => client.pending().length === 0);
  expect(streams).toHaveLength(1);
  release();
  await until('there is a second stream', () => streams.length === 2);
  expect(count).toBe(1000);
  expect(cursorsOf(server)).toEqual([null, 'c999']);
});

test('huge events that wait for a slow handler do not fill the memory', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  await client.on('tick', {}, () => new Promise(() => {}));
  const text = 'x'.repeat(1_000_000);
  for (let n = 0; n < 30; n++) streams[0]?.say('event', occurrence(`${n}`, { data: { text } }));
  await until('the stream is closed', () => client.pending().length === 0);
  expect(client.info().problems.at(-1)).toContain('The handler of tick is slow');
});

test('a type that the server announces as changed is listed again, however often it says so', async () => {
  const { server, streams } = await speaking();
  await using _server = server;
  await using client = await connect(server.url);
  await client.on('tick', {}, () => {});
  for (let n = 0; n < 500; n++) streams[0]?.say('list_changed');
  await until('it was listed three times', () => server.requests('list').length === 3);
  const [, second, third] = server.requests('list').map(({ at }) => at);
  expect((third as number) - (second as number)).toBeGreaterThan(900);
});

test('a stream that the server never confirms fails with a timeout', async () => {
  await using server = await eventServer({
    events,
    answers: { stream: (request, response) => void speaker(request, response) },
  });
  await using client = await connect(server.url, { timeoutMs: 200 });
  await expect(client.on('tick', {}, () => {})).rejects.toMatchObject({ code: 'timeout' });
});
