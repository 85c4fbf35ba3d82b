import { expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';
import { eventServer, listed } from '../../../support/events/event-server.js';
import { json, result } from '../../../support/http/http-server.js';

test('client.events lists the types of all pages, without words of delivery that it does not know', async () => {
  await using server = await eventServer({
    events: (request, response) =>
      json(
        response,
        result(
          request,
          request.body?.params.cursor === undefined
            ? { events: [listed('a', 'push', 'carrier-pigeon'), { name: '' }, 'x'], nextCursor: '2' }
            : { events: [{ name: 'b' }] },
        ),
      ),
  });
  await using client = await connect(server.url);
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  expect(await client.events().all()).toEqual([
    { name: 'a', description: 'a', delivery: ['push'], inputSchema: { type: 'object' } },
    { name: 'b', delivery: [] },
  ]);
  expect(problems).toHaveLength(2);
});

test('client.events rejects when the server repeats a cursor', async () => {
  await using server = await eventServer({
    events: (request, response) => json(response, result(request, { events: [], nextCursor: 'again' })),
  });
  await using client = await connect(server.url);
  await expect(client.events().all()).rejects.toThrow('repeats a page');
});

test('a client sends nothing about events to a server that declares them in neither place', async () => {
  await using server = await eventServer({ capabilities: { tools: {} }, events: [listed('tick', 'poll')] });
  await using client = await connect(server.url);
  expect(await client.events().all()).toEqual([]);
  await expect(client.on('tick', {}, () => {})).rejects.toMatchObject({ code: 'method_not_found' });
  expect(server.received.map(({ body }) => body?.method)).toEqual(['server/discover']);
});

test('a client lists the events of a server that declares them only in the place of the sketch', async () => {
  await using server = await eventServer({ capabilities: { events: {} }, events: [listed('tick', 'poll')] });
  await using client = await connect(server.url);
  expect(await client.events().all()).toHaveLength(1);
});
