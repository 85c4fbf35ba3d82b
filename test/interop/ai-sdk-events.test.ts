import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createServer, event } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { until } from '../support/until.js';
import type { StoredSubscription, SubscriptionStore } from './support/ai-sdk.js';

// The client that hosts have, with its own receiver of webhooks, against our server.

const needsNode22 = Number(process.versions.node.split('.')[0]) < 22;

function storeInMemory(): SubscriptionStore {
  const all = new Map<string, StoredSubscription>();
  return {
    get: async (key) => all.get(key),
    getById: async (id) => [...all.values()].find((each) => each.id === id),
    set: async (subscription) => void all.set(subscription.key, subscription),
    async update(key, patch) {
      const before = all.get(key);
      if (before !== undefined) all.set(key, { ...before, ...patch });
    },
    delete: async (key) => void all.delete(key),
  };
}

/** Serves a handler of requests on loopback, and notes what it replies. */
async function listen(handle: (request: Request) => Promise<Response>) {
  const statuses: number[] = [];
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const reply = await handle(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'POST',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks),
      }),
    );
    statuses.push(reply.status);
    response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    statuses,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A fetch to a server that does not know `server/discover`, so that the client falls back to a session. */
const withoutDiscover: typeof fetch = async (url, init) => {
  const { method, id } = JSON.parse(String(init?.body ?? '{}'));
  if (method !== 'server/discover') return fetch(url, init);
  const error = { code: -32601, message: 'Method not found' };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
};

describe.skipIf(needsNode22).each([
  ['of 2026-07-28', undefined],
  ['in a session', withoutDiscover],
] as const)('the AI SDK, %s,', (_era, ownFetch) => {
  test('lists our events, subscribes, answers the challenge, receives, refreshes, is told of the end, and unsubscribes', async () => {
    const { createMCPClient, createMCPEventWebhook } = await import('./support/ai-sdk.js');
    const store = storeInMemory();
    const heard: (readonly [eventId: string, id: unknown])[] = [];
    const ended: number[] = [];
    const errors: unknown[] = [];
    const receiving = await listen(
      createMCPEventWebhook({
        store,
        onEvent: ({ event: { eventId, data } }) => void heard.push([eventId, data['id']]),
        onTerminated: ({ termination }) => void ended.push(termination.error.code),
        onError: (error) => void errors.push(error),
      }),
    );
    let allowed = true;
    const desk = createServer({
      name: 'desk',
      version: '1.0.0',
      auth: bearer((token) => ({ subject: token })),
      webhooks: { privateHosts: [receiving.origin] },
      events: {
        ticket_changed: event({
          description: 'A ticket changed',
          input: z.object({ queue: z.string() }),
          payload: z.object({ id: z.string(), queue: z.string() }),
          match: (data, { queue }) => data.queue === queue,
          allow: () => allowed,
        }),
      },
    });
    const running = await serve(desk, { port: 0, signals: false });
    const emit = (id: string, queue: string) =>
      desk.emit('ticket_changed', { id, queue }, { eventId: `evt-${id}` });
    const client = await createMCPClient({
      transport: {
        ...{ type: 'http', url: String(running.url), headers: { authorization: 'Bearer ada' } },
        ...(ownFetch && { fetch: ownFetch }),
      },
      experimental_events: { store },
    });
    const { experimental_events: events } = client;
    const delivery = {
      mode: 'webhook',
      url: `${receiving.origin}/hook`,
      allowInsecureLocalhost: true,
    } as const;
    const subscribe = () =>
      events.subscribe({ name: 'ticket_changed', arguments: { queue: 'billing' }, delivery, ttlMs: 600_000 });
    try {
      expect((await events.list()).events).toMatchObject([
        { name: 'ticket_changed', delivery: ['webhook', 'push', 'poll'] },
      ]);
      const subscribed = await subscribe();
      expect(subscribed).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false });
      // The challenge.
      expect(receiving.statuses).toEqual([200]);
      await emit('T-1', 'billing');
      await emit('T-2', 'sales');
      await emit('T-3', 'billing');
      await until('both have arrived', () => heard.length === 2);
      expect([...heard].sort()).toEqual([
        ['evt-T-1', 'T-1'],
        ['evt-T-3', 'T-3'],
      ]);
      const refreshed = await events.refresh({ id: subscribed.id });
      expect(refreshed.id).toBe(subscribed.id);
      await emit('T-4', 'billing');
      await until('the event after the refresh has arrived', () => heard.length === 3);
      await events.unsubscribe({ id: subscribed.id });
      for await (const left of desk.webhooks.deliveries()) expect(left).toBeUndefined();
      const again = await subscribe();
      expect(again.id).not.toBe(subscribed.id);
      allowed = false;
      await emit('T-5', 'billing');
      await until('the end was told', () => ended.length === 1);
      expect(ended).toEqual([-32012]);
      expect(heard).toHaveLength(3);
      expect(errors).toEqual([]);
    } finally {
      await client.close();
      await running.close();
      await receiving.close();
    }
  });
});
