import { createServer, event, memoryStore } from 'fullmcp';
import { testClient, webhookReceiver, wires } from 'fullmcp/testing';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';

function makeDesk(options: object = {}) {
  return createServer({
    name: 'desk',
    version: '1',
    logger: () => undefined,
    ...options,
    events: {
      changed: event({
        input: z.object({ queue: z.string().optional() }),
        payload: z.object({ id: z.string(), queue: z.string() }),
        match: (data, { queue }) => queue === undefined || data.queue === queue,
      }),
    },
  });
}

describe('client.collect', () => {
  test.each(wires)('returns one event after the other over $name', async ({ over, revision }) => {
    const desk = makeDesk();
    await using client = await testClient(desk, { over, revision });
    await using events = await client.collect('changed', { queue: 'billing' });
    const waiting = events.next();
    await desk.emit('changed', { id: 'T-1', queue: 'other' });
    await desk.emit('changed', { id: 'T-2', queue: 'billing' });
    await desk.emit('changed', { id: 'T-3', queue: 'billing' });
    const { data } = await waiting;
    expectTypeOf(data).toEqualTypeOf<{ id: string; queue: string }>();
    expect(data.id).toBe('T-2');
    expect((await events.next()).data.id).toBe('T-3');
    expect(events.received.map(({ data: { id } }) => id)).toEqual(['T-2', 'T-3']);
    expect(events.delivery).toBe('push');
  });

  test('rejects for a type that is not there, and for an event that cannot come any more', async () => {
    const desk = makeDesk();
    await using client = await testClient(desk);
    await expect(client.collect('chnaged' as never)).rejects.toThrow(
      'lists no events with the name "chnaged"',
    );
    const later = desk.event('later', event({ payload: z.object({}) }));
    const events = await client.collect('later' as never);
    const waiting = events.next();
    later.remove();
    await expect(waiting).rejects.toMatchObject({ code: 'invalid_params' });
    const others = await client.collect('changed');
    const next = others.next();
    await others.close();
    await expect(next).rejects.toThrow('was closed');
  });
});

describe('a subscription of webhookReceiver', () => {
  async function subscribed(reply: NonNullable<Parameters<typeof webhookReceiver>[0]>['reply']) {
    const hooks = await webhookReceiver({ reply: reply as never });
    const desk = makeDesk({ store: memoryStore(), webhooks: { privateHosts: [hooks.url] } });
    const client = await testClient(desk, { caller: { subject: 'ada' } });
    return {
      hooks,
      desk,
      client,
      subscription: await hooks.subscribe(client, 'changed', { queue: 'billing' }),
    };
  }

  test('gets the events of a server in the same process, signed, and repeated until it accepts them', async () => {
    const { hooks, desk, client, subscription } = await subscribed(({ attempt, body }) =>
      body['type'] === undefined && attempt < 2 ? 503 : undefined,
    );
    await desk.emit('changed', { id: 'T-1', queue: 'billing' }, { eventId: 'one' });
    const hook = await hooks.next(({ id, attempt }) => id === 'one' && attempt === 2);
    expect(hook.subscription).toBe(subscription.id);
    expect(await hook.isSignedWith(subscription.secret)).toBe(true);
    expect(hook.body).toMatchObject({ eventId: 'one', name: 'changed', data: { id: 'T-1' } });
    await subscription.unsubscribe();
    await desk.emit('changed', { id: 'T-2', queue: 'billing' }, { eventId: 'two' });
    expect(hooks.received.some(({ id }) => id === 'two')).toBe(false);
    await client.close();
    await desk.close();
    await hooks.close();
  });
});

test('the clock of a test drives the retries and the end of a subscription', async () => {
  const hooks = await webhookReceiver({
    reply: ({ body }) => (body['type'] === undefined ? 503 : undefined),
  });
  const desk = makeDesk({ store: memoryStore(), webhooks: { privateHosts: [hooks.url] } });
  const client = await testClient(desk, { caller: { subject: 'ada' } });
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  try {
    const { result } = await hooks.subscribe(client, 'changed');
    await desk.emit('changed', { id: 'T-1', queue: 'billing' }, { eventId: 'one' });
    const attempts = (count: number) => hooks.next(({ id, attempt }) => id === 'one' && attempt === count);
    // An attempt is under way on the real network when the clock moves, so it moves in small steps.
    const passing = async <T>(arrival: Promise<T>): Promise<T> => {
      let hasArrived = false;
      void arrival.then(() => {
        hasArrived = true;
      });
      while (!hasArrived) {
        await vi.advanceTimersByTimeAsync(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return arrival;
    };
    const startedAt = Date.now();
    await passing(attempts(5));
    expect(Date.now() - startedAt).toBeGreaterThan(30_000);
    expect(Date.now()).toBeLessThan(Date.parse(String(result['refreshBefore'])));
  } finally {
    vi.useRealTimers();
  }
  await client.close();
  await desk.close();
  await hooks.close();
});
