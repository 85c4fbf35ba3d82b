import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, event } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { receiver, type WebhookSource } from 'fullmcp/events';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/until.js';

// Webhooks from our server to our receiver, in both eras. Each of them alone is tested with peers that a test speaks for.

async function listen(handler: RequestListener) {
  const server = createHttpServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function startDesk(origin: string) {
  const desk = createServer({
    name: 'desk',
    version: '1.0.0',
    secret: 'a secret that seals the subscriptions',
    auth: bearer((token) => ({ subject: token })),
    webhooks: { privateHosts: [origin] },
    events: {
      ticket_changed: event({
        description: 'A ticket changed',
        input: z.object({ queue: z.string() }),
        payload: z.object({ id: z.string(), queue: z.string() }),
        match: (data, { queue }) => data.queue === queue,
      }),
    },
  });
  return { desk, running: await serve(desk, { port: 0, signals: false }) };
}

describe.each(['2026-07-28', '2025-11-25'] as const)('a webhook of a client of %s', (revision) => {
  test('brings the events that match, once and with their ids, through a rotation, until it is unsubscribed', async () => {
    const heard: (readonly [id: string, eventId: string, source: WebhookSource])[] = [];
    const problems: string[] = [];
    const hooks = receiver({
      onEvent: ({ data, eventId }, source) => void heard.push([String(data['id']), eventId, source]),
      onProblem: ({ message }) => void problems.push(message),
    });
    await using receiving = await listen(hooks.node);
    const { desk, running } = await startDesk(receiving.origin);
    const emit = (id: string, queue: string) =>
      desk.emit('ticket_changed', { id, queue }, { eventId: `evt-${id}` });
    const client = await connect(String(running.url), { auth: 'ada', revision });
    const subscription = await hooks.subscribe(
      client,
      'ticket_changed',
      { queue: 'billing' },
      { url: `${receiving.origin}/hooks?tenant=1` },
    );
    await emit('T-1', 'billing');
    await emit('T-2', 'other');
    await emit('T-2', 'other');
    await emit('T-1', 'billing');
    await emit('T-3', 'billing');
    await until('both have arrived', () => heard.length >= 2);
    expect(heard.map(([id]) => id).sort()).toEqual(['T-1', 'T-3']);
    expect(heard.map(([, eventId]) => eventId).sort()).toEqual(['evt-T-1', 'evt-T-3']);
    expect(heard[0]?.[2]).toMatchObject({
      id: subscription.id,
      subscription: { name: 'ticket_changed', args: { queue: 'billing' } },
    });
    await subscription.rotate();
    await emit('T-4', 'billing');
    await until('the event after the rotation has arrived', () => heard.length >= 3);
    expect(heard[2]?.[0]).toBe('T-4');
    await subscription.unsubscribe();
    expect(await subscription.ended).toBeUndefined();
    await emit('T-5', 'billing');
    for await (const left of desk.webhooks.deliveries()) expect(left).toBeUndefined();
    expect(heard).toHaveLength(3);
    expect(problems).toEqual([]);
    await client.close();
    await hooks.close();
    await running.close();
  });
});
