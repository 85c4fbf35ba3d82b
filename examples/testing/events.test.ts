import { createServer } from 'fullmcp';
import { testClient, webhookReceiver } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { server as desk, ticket_changed } from './desk.js';

// #region collect
test('an open ticket is told to those that follow its queue', async () => {
  await using client = await testClient(desk);
  await using events = await client.collect('ticket_changed', { queue: 'billing' });
  await desk.emit('ticket_changed', { id: 'T-1', queue: 'sales' });
  await desk.emit('ticket_changed', { id: 'T-2', queue: 'billing' });
  expect(await events.next()).toMatchObject({ data: { id: 'T-2' } }); // T-1 would have come first
});
// #endregion

// #region webhook
test('an event is sent again to a receiver that fails', async () => {
  await using hooks = await webhookReceiver({
    reply: ({ attempt, body }) => (body['type'] === undefined && attempt < 2 ? 503 : undefined),
  });
  const events = { ticket_changed };
  await using server = createServer({
    ...{ name: 'desk', version: '1.0.0', events },
    webhooks: { privateHosts: [hooks.url] }, // the receiver is on loopback
  });
  await using client = await testClient(server, { caller: { subject: 'ada' } });
  const { secret } = await hooks.subscribe(client, 'ticket_changed', { queue: 'billing' });
  await server.emit('ticket_changed', { id: 'T-1', queue: 'billing' }, { eventId: 'one' });
  const again = await hooks.next(({ id, attempt }) => id === 'one' && attempt === 2);
  expect(await again.isSignedWith(secret)).toBe(true);
});
// #endregion
