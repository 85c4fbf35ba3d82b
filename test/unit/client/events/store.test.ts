import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connect, type EventStore } from '../../../../src/client.js';
import { fileTokenStore, memoryTokenStore } from '../../../../src/oauth.js';
import { eventServer, listed, occurrence, polls } from '../../../support/events/event-server.js';
import { until } from '../../../support/until.js';

const events = [listed('tick', 'poll')];
let folder: string | undefined;

afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

test('a later run continues after the last event that was handled, for each server, type and arguments', async () => {
  const own = mkdtempSync(join(tmpdir(), 'fullmcp-events-'));
  folder = own;
  const open = (): EventStore => fileTokenStore({ folder: own, key: 'k'.repeat(32) });
  await using server = await eventServer({
    events,
    answers: { poll: polls({ cursor: 'c2', events: [occurrence('1', { cursor: 'c1' }), occurrence('2')] }) },
  });
  {
    await using client = await connect(server.url);
    let count = 0;
    const subscription = await client.on('tick', { a: 1, b: 2 }, () => void count++, { store: open() });
    await until('both were handled', () => count === 2);
    await subscription.close();
  }
  await using client = await connect(server.url);
  await client.on('tick', { b: 2, a: 1 }, () => {}, { store: open() });
  await client.on('tick', { a: 1 }, () => {}, { store: open() });
  expect(server.requests('poll').map(({ body }) => body?.params.cursor)).toEqual([null, 'c2', null]);
});

test('the stored position is before an event until its handler has returned', async () => {
  const store = memoryTokenStore();
  await using server = await eventServer({
    events,
    answers: {
      poll: polls({
        cursor: 'c3',
        events: [1, 2, 3].map((n) => occurrence(`${n}`, { cursor: `c${n}` })),
      }),
    },
  });
  await using client = await connect(server.url);
  let started = 0;
  const subscription = await client.on(
    'tick',
    {},
    () => {
      started++;
      return started === 2 ? new Promise(() => {}) : undefined;
    },
    { store },
  );
  await until('the second is being handled', () => started === 2);
  await subscription.close();
  expect(await store.get(`events tick ${server.url} {}`)).toBe('{"cursor":"c1"}');
});

test('a store that fails while it is read fails the subscription, and later it is a problem', async () => {
  await using server = await eventServer({
    events,
    answers: {
      poll: polls({ cursor: 'c1', hasMore: true }, { cursor: 'c2', hasMore: true }, { cursor: 'c3' }),
    },
  });
  await using client = await connect(server.url);
  const broken: EventStore = {
    get: () => Promise.reject(new Error('disk')),
    set: () => Promise.reject(new Error('disk')),
    delete: () => Promise.resolve(),
  };
  await expect(client.on('tick', {}, () => {}, { store: broken })).rejects.toThrow('disk');
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  await client.on('tick', {}, () => {}, { store: { ...broken, get: () => Promise.resolve(undefined) } });
  await until('the problem was reported', () => problems.length > 0);
  expect(problems[0]).toBe('The position in the events could not be stored');
  await until('it polls on', () => server.requests('poll').length === 3);
});
