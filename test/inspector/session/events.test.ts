import { createServer, event, inProcess } from 'fullmcp';
import { webhookReceiver } from 'fullmcp/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { ToldEvent } from '../../../src/inspector/contract/events.js';
import { operatedServer } from '../../../src/tooling/operator/operated-server.js';
import { secretOf } from '../../support/events/receiver.js';
import { until } from '../../support/until.js';
import { type Rig, rig } from './rig.js';

// The events of a server, followed, polled and operated in the process behind the page.

const payload = z.object({ id: z.string(), queue: z.string() });

function desk(webhooks: object = {}) {
  return createServer({
    ...{ name: 'desk', version: '1.0.0', logger: () => undefined },
    events: {
      ticket_changed: event({
        input: z.object({ queue: z.string().optional() }),
        payload,
        match: (data, { queue }) => queue === undefined || data.queue === queue,
      }),
      polled: event({ payload, delivery: ['poll'] }),
    },
    webhooks,
  });
}

async function connected(server: ReturnType<typeof desk>, isOperated = true) {
  const own = rig();
  onTestFinished(() => own[Symbol.asyncDispose]());
  onTestFinished(() => server.close());
  const connection = await own.connect({ target: isOperated ? operatedServer(server) : server });
  return { own, connection };
}

const toldBy = ({ inspector }: Rig): readonly ToldEvent[] => inspector.snapshot().told;
const follows = (own: Rig, id: string) => own.connection(id)?.follows ?? [];

test('the types are listed, and again with the other lists', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  const names = () => own.inspector.catalog(connection)?.events.map((type) => type['name']);
  expect(names()).toEqual(['ticket_changed', 'polled']);
  server.event('added', event({ payload }));
  await own.run('refresh', { connection });
  expect(names()).toContain('added');
});

test('a type is followed with its arguments, and once', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  const input = { connection, name: 'ticket_changed' };
  const { story } = await own.run('followEvents', { ...input, args: { queue: 'sales' } });
  await own.run('followEvents', { ...input, args: { queue: 'billing' } });
  expect((await own.ended(story)).state).toBe('ok');
  await own.until('the server has accepted', () => follows(own, connection)[0]?.via === 'push');
  await server.emit('ticket_changed', { id: 's1', queue: 'sales' }, { eventId: 's1' });
  await server.emit('ticket_changed', { id: 'b1', queue: 'billing' }, { eventId: 'b1' });
  await own.until('an event was told', () => toldBy(own).length > 0);
  expect(toldBy(own)).toEqual([
    {
      ...{ seq: 1, connection, at: expect.any(Number), via: 'push', name: 'ticket_changed', eventId: 'b1' },
      ...{ timestamp: expect.any(String), data: '{"id":"b1","queue":"billing"}', isCut: false },
    },
  ]);
  await own.until('it is counted', () => follows(own, connection)[0]?.count === 1);
  await own.run('unfollowEvents', input);
  expect(follows(own, connection)).toEqual([]);
});

test('a poll continues after the one before, and following after a poll', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  const input = { connection, name: 'polled', args: {} };
  const poll = async () => own.ended((await own.run('pollEvents', input)).story);
  expect((await poll()).outcome).toMatchObject({ events: [], cursor: expect.any(String) });
  await server.emit('polled', { id: 'p1', queue: 'a' }, { eventId: 'p1' });
  await poll();
  expect(toldBy(own).map(({ eventId, via }) => [eventId, via])).toEqual([['p1', 'poll']]);
  await poll();
  await server.emit('polled', { id: 'p2', queue: 'a' }, { eventId: 'p2' });
  await own.run('followEvents', input);
  await own.until('the second was told', () => toldBy(own).length === 2);
  expect(toldBy(own).map(({ eventId }) => eventId)).toEqual(['p1', 'p2']);
});

test('a subscription that the server ends says why', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  const removed = server.event('passing', event({ payload }));
  const { story } = await own.run('followEvents', { connection, name: 'passing', args: {} });
  await own.until('the server has accepted', () => follows(own, connection)[0]?.via !== undefined);
  removed.remove();
  expect(await own.ended(story)).toMatchObject({ state: 'error', error: { message: expect.any(String) } });
  expect(follows(own, connection)).toEqual([]);
  const unknown = await own.run('followEvents', { connection, name: 'none', args: {} });
  expect(await own.ended(unknown.story)).toMatchObject({ state: 'error' });
});

test('closing the connection ends what is followed, and forgetting it removes what was told', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  const { story } = await own.run('followEvents', { connection, name: 'ticket_changed', args: {} });
  await own.until('the server has accepted', () => follows(own, connection)[0]?.via === 'push');
  await server.emit('ticket_changed', { id: 't1', queue: 'a' });
  await own.until('an event was told', () => toldBy(own).length === 1);
  await own.run('reconnect', { connection });
  expect((await own.ended(story)).state).toBe('cancelled');
  expect(follows(own, connection)).toEqual([]);
  await own.run('disconnect', { connection });
  expect(toldBy(own)).toEqual([]);
});

test('many large events stay within their bounds', async () => {
  const server = desk();
  const { own, connection } = await connected(server);
  await own.run('followEvents', { connection, name: 'ticket_changed', args: {} });
  await own.until('the server has accepted', () => follows(own, connection)[0]?.via === 'push');
  for (let at = 0; at < 600; at++)
    await server.emit('ticket_changed', { id: String(at), queue: 'x'.repeat(5000) });
  await own.until('all were told', () => follows(own, connection)[0]?.count === 600);
  expect(toldBy(own)).toHaveLength(500);
  expect(toldBy(own).at(-1)).toMatchObject({ isCut: true, seq: 600 });
  expect(toldBy(own).at(-1)?.data).toHaveLength(4000);
});

test('the author emits events, sees the deliveries of webhooks, and sends events again', async () => {
  const reply = { status: 410 };
  const hooks = await webhookReceiver({
    reply: ({ body }) => (body['type'] === 'verification' ? undefined : reply.status),
  });
  onTestFinished(() => hooks.close());
  const server = desk({ privateHosts: [hooks.url] });
  const { own, connection } = await connected(server);
  const delivery = { mode: 'webhook', url: `${hooks.url}/hook?key=secret-of-query`, secret: secretOf(1) };
  const ask = inProcess(server, { caller: { subject: 'ada' } });
  const { id } = await ask('events/subscribe', { name: 'ticket_changed', delivery });
  const data = { id: 't1', queue: 'a' };
  expect(await own.run('emitEvent', { connection, name: 'ticket_changed', data, eventId: 't1' })).toEqual({
    ...{ eventId: 't1', isNew: true },
  });
  await expect(own.run('emitEvent', { connection, name: 'ticket_changed', data: { id: 7 } })).rejects.toThrow(
    /id/,
  );
  const deliveries = () => own.run('deliveries', { connection });
  await until('it was given up', async () => (await deliveries()).subscriptions[0]?.dead.length === 1);
  const view = await deliveries();
  expect(view).toMatchObject({ isOperated: true, hasWebhooks: true, isCut: false });
  expect(JSON.stringify(view)).not.toContain('secret-of-query');
  reply.status = 204;
  const input = { connection, subscription: String(id), eventId: 't1' };
  expect(await own.run('redeliver', input)).toEqual({ count: 1 });
  await until('it was delivered', async () => (await deliveries()).subscriptions[0]?.dead.length === 0);
});

test('a server that is not operated says so', async () => {
  const { own, connection } = await connected(desk(), false);
  expect(await own.run('deliveries', { connection })).toMatchObject({ isOperated: false });
  await expect(own.run('emitEvent', { connection, name: 'ticket_changed', data: {} })).rejects.toThrow(
    /fullmcp dev runs/,
  );
});
