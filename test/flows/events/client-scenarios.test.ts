import { expect, test } from 'vitest';
import { type Client, connect } from '../../../src/client.js';
import {
  type EventScript,
  type EventServer,
  eventServer,
  occurrence,
  speaker,
} from '../../support/events/event-server.js';
import { json, result, stream } from '../../support/http/http-server.js';
import { until } from '../../support/until.js';

// The scenarios of the official suite for clients with events, written again from their text: the mock declares only the extension, and
// lists one type with replay and one without, each with one way of delivery and without a schema of its data.

const TICKS = 'conformance.ticks';
const CURSORLESS = 'conformance.cursorless';

function types(mode: string): readonly object[] {
  return [TICKS, CURSORLESS].map((name) => ({
    name,
    description: name,
    delivery: [mode],
    inputSchema: { type: 'object' },
  }));
}

/** Does as the official client: subscribes to everything that is listed. */
async function subscribeToAll(client: Client): Promise<void> {
  for await (const { name } of client.events()) await client.on(name, {}, () => {});
}

const cursors = (server: EventServer, word: string, name: string): unknown[] =>
  server
    .requests(word)
    .filter(({ body }) => body?.params.name === name)
    .map(({ body }) => body?.params.cursor);

const times = (server: EventServer, name: string): number[] =>
  server.requests('poll').flatMap(({ body, at }) => (body?.params.name === name ? [at] : []));

test('events-client-poll: a client drains at once, waits as told and at least a second, and tolerates what is absent', async () => {
  let asked = 0;
  const answers: EventScript['answers'] = {
    poll(request, response) {
      const { name } = (request.body?.params ?? {}) as { name: string };
      if (name === CURSORLESS)
        return json(
          response,
          result(request, { events: [], hasMore: false, nextPollMs: 1000, cursor: null }),
        );
      const at = asked++;
      const event = occurrence(`${at}`, { name });
      const pages = [
        { events: [], cursor: 'c0', truncated: false, hasMore: true, nextPollMs: 3000 },
        { events: [event], cursor: 'c1', truncated: false, hasMore: false, nextPollMs: 2000 },
        { events: [], cursor: 'fresh', truncated: true, hasMore: false, nextPollMs: 0 },
        { events: [event], hasMore: false, nextPollMs: 0 },
        { events: [], cursor: 'c4', truncated: false, hasMore: false, nextPollMs: 0 },
      ];
      const page = pages[Math.min(at, pages.length - 1)] as object;
      if (at !== 2) return json(response, result(request, page));
      const { say } = stream(response);
      say({ jsonrpc: '2.0', method: 'notifications/events/list_changed' });
      say(result(request, page));
      response.end();
    },
  };
  await using server = await eventServer({ events: types('poll'), answers });
  await using client = await connect(server.url);
  await subscribeToAll(client);
  await until('the type was polled five times', () => times(server, TICKS).length === 5);
  const at = times(server, TICKS);
  const gap = (n: number): number => (at[n] as number) - (at[n - 1] as number);
  expect(gap(1)).toBeLessThan(3000);
  expect(gap(2)).toBeGreaterThan(1800);
  expect(gap(3)).toBeGreaterThan(900);
  expect(gap(4)).toBeGreaterThan(900);
  expect(cursors(server, 'poll', TICKS)).toEqual([null, 'c0', 'c1', 'fresh', null]);
  expect(new Set(cursors(server, 'poll', CURSORLESS))).toEqual(new Set([null]));
  // Once for the program, once for the subscriptions, and once because the list has changed.
  await until('it was listed again', () => server.requests('list').length === 3);
});

test('events-client-push: a client opens a silent stream again with the position of the last heartbeat', async () => {
  const answers: EventScript['answers'] = {
    stream(request, response) {
      const { name, cursor } = (request.body?.params ?? {}) as { name: string; cursor: string | null };
      const { say } = speaker(request, response);
      const isFirst = server.requests('stream').filter(({ body }) => body?.params.name === name).length === 1;
      if (name === CURSORLESS) {
        say('active', { cursor: null, truncated: false });
        say('event', occurrence('x', { name }));
        if (isFirst) response.end();
        return;
      }
      say('active', { cursor: cursor ?? 'c0', truncated: false });
      if (!isFirst) return;
      let beats = 0;
      const timer = setInterval(() => {
        say('heartbeat', { cursor: `h${++beats}` });
        if (beats === 4) clearInterval(timer);
      }, 500);
    },
  };
  await using server = await eventServer({ events: types('push'), answers });
  await using client = await connect(server.url);
  await subscribeToAll(client);
  await until('both were opened again', () => server.requests('stream').length === 4);
  expect(cursors(server, 'stream', TICKS)).toEqual([null, 'h4']);
  expect(cursors(server, 'stream', CURSORLESS)).toEqual([null, null]);
});

test('events-client-no-extension: a client sends no request for events to a server that does not declare them', async () => {
  await using server = await eventServer({ capabilities: {}, events: types('poll') });
  await using client = await connect(server.url);
  await subscribeToAll(client);
  expect(server.received.map(({ body }) => body?.method)).toEqual(['server/discover']);
});
