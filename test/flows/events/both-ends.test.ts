import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { connect } from '../../../src/client.js';
import { receiver } from '../../../src/events.js';
import { testClient, wires } from '../../../src/testing.js';
import { soon, until } from '../../support/until.js';
import { type Desk, makeDesk, serveDesk } from './desk.js';

// The client and the server of this package together. Each of them alone is tested with peers that a test speaks for.

describe.each(wires)('events over $over in $revision', ({ over, revision }) => {
  test('are listed, come on a stream and by polling, and only those that match', async () => {
    const desk = makeDesk();
    await using client = await testClient(desk, { over, revision });
    const names = (await client.events().all()).map(({ name }) => name);
    expect(names).toEqual(['ticket_changed', 'pushed', 'polled']);
    const seen: string[] = [];
    const pushed = await client.on('ticket_changed', { queue: 'billing' }, ({ data }) => {
      expectTypeOf(data.id).toEqualTypeOf<string>();
      seen.push(data.id);
    });
    expect(pushed.delivery).toBe('push');
    await desk.emit('ticket_changed', { id: 'T-1', queue: 'billing' });
    await desk.emit('ticket_changed', { id: 'T-2', queue: 'other' });
    await desk.emit('ticket_changed', { id: 'T-3', queue: 'billing' });
    await until('two events have arrived', () => seen.length === 2);
    expect(seen).toEqual(['T-1', 'T-3']);

    const polled: string[] = [];
    const polling = await client.on('polled', {}, ({ data, eventId }) => {
      polled.push(`${data.id} ${eventId}`);
    });
    expect(polling.delivery).toBe('poll');
    await desk.emit('polled', { id: 'P-1' }, { eventId: 'row-1' });
    await until('it was polled', () => polled.length === 1);
    expect(polled).toEqual(['P-1 row-1']);
    await pushed.close();
    await polling.close();
    expect(client.info().problems).toEqual([]);
  });
});

test('a client is told what happened while the connection was broken, in order and once', async () => {
  const desk = makeDesk();
  const served = await serveDesk({}, desk);
  const open = new Set<() => void>();
  // A relay that can break every connection.
  const relay = createHttpServer((req, res) => {
    const chunks: Buffer[] = [];
    const stop = new AbortController();
    const drop = (): void => {
      stop.abort();
      res.destroy();
    };
    open.add(drop);
    res.on('close', () => {
      open.delete(drop);
      stop.abort();
    });
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', async () => {
      const { host: _, connection: __, ...headers } = req.headers;
      const reply = await fetch(served.url, {
        method: req.method ?? 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
        signal: stop.signal,
      }).catch(() => undefined);
      if (reply === undefined) return void res.destroy();
      res.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
      try {
        for await (const chunk of reply.body ?? []) res.write(chunk);
        res.end();
      } catch {
        res.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`;
    await using client = await connect<Desk>(url);
    const seen: string[] = [];
    await client.on('ticket_changed', {}, ({ data }) => void seen.push(data.id));
    const expected = Array.from({ length: 60 }, (_, n) => `T-${n}`);
    for (const [n, id] of expected.entries()) {
      await desk.emit('ticket_changed', { id });
      if (n % 20 === 10) for (const drop of open) drop();
    }
    await until('all have arrived', () => seen.length >= 60);
    expect(seen).toEqual(expected);
  } finally {
    relay.closeAllConnections();
    await new Promise((resolve) => relay.close(resolve));
    await served.close();
  }
});

test('a subscription that the server refuses rejects with the same code over every transport', async () => {
  for (const { over, revision } of wires) {
    await using client = await testClient(makeDesk(), { over, revision });
    const untyped = client as unknown as {
      on: (name: string, args: object, f: () => void) => Promise<unknown>;
    };
    await expect(untyped.on('ticket_changed', { queue: 7 }, () => {})).rejects.toMatchObject({
      code: 'invalid_params',
    });
    await expect(untyped.on('nothing', {}, () => {})).rejects.toMatchObject({ code: 'invalid_params' });
  }
});

test('a server that is closed ends the streams, and the client finds them again when it is back', async () => {
  const first = await serveDesk();
  const port = new URL(first.url).port;
  await using client = await connect<Desk>(first.url);
  const seen: string[] = [];
  const subscription = await client.on('pushed', {}, ({ data }) => void seen.push(data.id));
  await first.close();
  const { serve } = await import('../../../src/node.js');
  const desk = makeDesk();
  const second = await serve(desk, { port: Number(port), signals: false });
  try {
    await until('an event arrives again', async () => {
      await desk.emit('pushed', { id: 'again' });
      return seen.length > 0;
    });
    await subscription.close();
    expect(await soon('the end', subscription.ended)).toBeUndefined();
  } finally {
    await second.close();
  }
});

test('the events of a receiver have the types of the server', () => {
  const hooks = receiver<Desk>({
    onEvent(event) {
      expectTypeOf(event.name).toEqualTypeOf<'ticket_changed' | 'pushed' | 'polled'>();
      if (event.name === 'ticket_changed') expectTypeOf(event.data.queue).toEqualTypeOf<string | undefined>();
    },
  });
  expectTypeOf<Parameters<typeof hooks.subscribe<'ticket_changed'>>[2]>().toEqualTypeOf<{
    queue?: string | undefined;
  }>();
  expect(hooks.subscribe).toBeTypeOf('function');
});
