import { expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';
import { eventServer, listed, occurrence, polls } from '../../../support/events/event-server.js';
import { error, json, result } from '../../../support/http/http-server.js';
import { soon, until } from '../../../support/until.js';

const events = [listed('tick', 'poll', 'webhook')];

test('a subscription polls with the position of the answer before, and handles each event once', async () => {
  await using server = await eventServer({
    events,
    answers: {
      poll: polls(
        { cursor: 'c1', hasMore: true, events: [] },
        { cursor: 'c2', hasMore: true, events: [occurrence('1'), occurrence('2')] },
        { cursor: 'c3', events: [occurrence('2'), occurrence('3')] },
      ),
    },
  });
  await using client = await connect(server.url);
  const seen: string[] = [];
  const subscription = await client.on('tick', { queue: 'a' }, ({ eventId }) => void seen.push(eventId));
  expect(subscription.delivery).toBe('poll');
  await until('three events were handled', () => seen.length === 3);
  expect(seen).toEqual(['1', '2', '3']);
  expect(server.requests('poll').map(({ body }) => body?.params.cursor)).toEqual([null, 'c1', 'c2']);
  expect(server.requests('poll')[0]?.body?.params).toMatchObject({ name: 'tick', arguments: { queue: 'a' } });
  await subscription.close();
  expect(await subscription.ended).toBeUndefined();
});

test('a subscription polls on when the answer has no cursor and no truncated, and sends null', async () => {
  await using server = await eventServer({
    events,
    answers: { poll: polls({ cursor: 'old', hasMore: true, events: [occurrence('0')] }, { nextPollMs: 0 }) },
  });
  await using client = await connect(server.url);
  await client.on('tick', {}, () => {});
  await until('it polled three times', () => server.requests('poll').length === 3);
  expect(server.requests('poll').map(({ body }) => body?.params.cursor)).toEqual([null, 'old', null]);
});

test('an error of the handler is a problem of the client, and the next event follows', async () => {
  await using server = await eventServer({
    events,
    answers: { poll: polls({ cursor: 'c1', events: [occurrence('1'), occurrence('2')] }) },
  });
  await using client = await connect(server.url);
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  const seen: string[] = [];
  await client.on('tick', {}, ({ eventId }) => {
    seen.push(eventId);
    if (eventId === '1') throw new Error('no');
  });
  await until('both were handled', () => seen.length === 2);
  expect(problems).toEqual(['The handler of the event tick threw']);
});

test('events of another name and malformed events are skipped', async () => {
  await using server = await eventServer({
    events,
    answers: {
      poll: polls({
        cursor: 'c1',
        events: [
          occurrence('1', { name: 'other' }),
          occurrence('2', { timestamp: '2026-10-26T07:33:19' }),
          occurrence('3', { data: [] }),
          { ...occurrence('4'), eventId: 4 },
          null,
          occurrence('good'),
        ],
      }),
    },
  });
  await using client = await connect(server.url);
  const seen: string[] = [];
  await client.on('tick', {}, ({ eventId }) => void seen.push(eventId));
  await until('the good one was handled', () => seen.length > 0);
  expect(seen).toEqual(['good']);
  expect(client.info().problems).toHaveLength(1);
});

test('100,000 events in one answer are handled in order, and everything else goes on meanwhile', async () => {
  const many = Array.from({ length: 100_000 }, (_, n) => occurrence(String(n)));
  await using server = await eventServer({
    events,
    answers: { poll: polls({ cursor: 'c1', hasMore: true, events: [] }, { cursor: 'c2', events: many }) },
  });
  await using client = await connect(server.url);
  let count = 0;
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await client.on('tick', {}, ({ eventId }) => {
    if (eventId === String(count)) count++;
  });
  await until('all were handled', () => count === 100_000);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

test('a server that always has more, and sends nothing, is not asked without a pause', async () => {
  await using server = await eventServer({
    events,
    answers: { poll: polls({ cursor: 'c', hasMore: true, nextPollMs: 0 }) },
  });
  await using client = await connect(server.url);
  await client.on('tick', {}, () => {});
  await until('it was asked often', () => server.requests('poll').length === 6);
  const at = server.requests('poll').map((request) => request.at);
  expect((at[5] as number) - (at[4] as number)).toBeGreaterThan(900);
});

test('an error that says that the type is gone ends a subscription when the list no longer has the type', async () => {
  for (const number of [-32011, -32023]) {
    let isThere = true;
    let asked = 0;
    await using server = await eventServer({
      events: (request, response) => json(response, result(request, { events: isThere ? events : [] })),
      answers: {
        poll(request, response) {
          if (asked++ === 0)
            return json(response, result(request, { events: [], cursor: 'c', hasMore: true }));
          isThere = false;
          json(response, error(request, number, 'gone', { kind: 'event' }));
        },
      },
    });
    await using client = await connect(server.url);
    const subscription = await client.on('tick', {}, () => {});
    expect(await soon('the end', subscription.ended)).toMatchObject({ number });
    expect(server.requests('list')).toHaveLength(2);
  }
});

test('a subscription that may not be made rejects at once, and one that lost its rights ends', async () => {
  let asked = 0;
  await using server = await eventServer({
    events,
    answers: {
      poll(request, response) {
        if (request.body?.params.arguments.queue === 'secret' || asked++ > 0)
          return json(response, error(request, -32012, 'not for you'));
        json(response, result(request, { events: [], cursor: 'c', hasMore: true }));
      },
    },
  });
  await using client = await connect(server.url);
  await expect(client.on('tick', { queue: 'secret' }, () => {})).rejects.toMatchObject({ number: -32012 });
  await expect(client.on('tock', {}, () => {})).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining('"tock"'),
  });
  const subscription = await client.on('tick', {}, () => {});
  expect(await soon('the end', subscription.ended)).toMatchObject({ number: -32012 });
});

test('a failed poll is repeated from the same position', async () => {
  let asked = 0;
  await using server = await eventServer({
    events,
    answers: {
      poll(request, response) {
        asked++;
        if (asked === 2) return void response.destroy();
        if (asked === 3) return json(response, error(request, -32603, 'oops'));
        json(response, result(request, { events: [], cursor: `c${asked}`, hasMore: asked === 1 }));
      },
    },
  });
  await using client = await connect(server.url);
  await client.on('tick', {}, () => {});
  await until('it was asked four times', () => asked === 4);
  expect(server.requests('poll').map(({ body }) => body?.params.cursor)).toEqual([null, 'c1', 'c1', 'c1']);
});

test('closing the client ends its subscriptions', async () => {
  await using server = await eventServer({ events, answers: { poll: polls({ cursor: 'c' }) } });
  const client = await connect(server.url);
  const subscription = await client.on('tick', {}, () => {});
  await client.close();
  expect(await soon('the end', subscription.ended)).toMatchObject({ code: 'connection_closed' });
});

test('a signal ends a subscription, and a handler may end its own', async () => {
  await using server = await eventServer({
    events,
    answers: {
      poll: polls({ cursor: 'b', hasMore: true }, { cursor: 'c', events: [occurrence('1')], hasMore: true }),
    },
  });
  await using client = await connect(server.url);
  let isHandled = false;
  const first = await client.on('tick', {}, async () => {
    await first.close();
    isHandled = true;
  });
  await until('the handler has closed its subscription', () => isHandled);
  expect(await soon('the end', first.ended)).toBeUndefined();
  const stop = new AbortController();
  const second = await client.on('tick', {}, () => {}, { signal: stop.signal });
  stop.abort();
  expect(await soon('the end', second.ended)).toBeUndefined();
  await expect(client.on('tick', {}, () => {}, { signal: stop.signal })).rejects.toMatchObject({
    code: 'cancelled',
  });
  await expect(client.on('tick', {}, () => {}, { stroe: 1 } as never)).rejects.toThrow('stroe');
  await expect(client.on('tick', 'x' as never, () => {})).rejects.toThrow('client.on needs');
});
