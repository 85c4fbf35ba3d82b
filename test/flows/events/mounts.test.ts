import {
  createServer,
  DefinitionError,
  event,
  inProcess,
  type JsonObject,
  memoryBus,
  memoryStore,
  tool,
} from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { testClient, wires } from 'fullmcp/testing';
import { transform } from 'fullmcp/transform';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type Receiver, secretOf, startReceiver } from '../../support/events/receiver.js';
import { modern } from '../../support/http/modern.js';
import { soon, until } from '../../support/until.js';

const quiet = { version: '1', secret: 'm'.repeat(40), logger: () => undefined };
const payload = z.object({ id: z.string(), queue: z.string() });

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function makeDesk(options: object = {}) {
  return createServer({
    ...quiet,
    name: 'desk',
    ...options,
    events: {
      ticket_changed: event({
        description: 'A ticket changed',
        input: z.object({ queue: z.string().optional() }),
        payload,
        match: (data, { queue }) => queue === undefined || data.queue === queue,
      }),
      audited: event({ payload, tags: ['admin'], scopes: ['desk:audit'] }),
    },
    tools: {
      open: tool({
        input: z.object({ id: z.string() }),
        async run({ id }, ctx) {
          await ctx.emit('ticket_changed', { id, queue: 'new' }, { eventId: `${id}-open` });
          return id;
        },
      }),
    },
  });
}

function makeShop(desk: object = makeDesk(), options: object = {}) {
  return createServer({
    ...quiet,
    name: 'shop',
    mount: { desk: desk as ReturnType<typeof makeDesk> },
    ...options,
  });
}

type Ask = ReturnType<typeof inProcess>;

/** Polls from now on. */
async function poller(ask: Ask, name: string, args: JsonObject = {}): Promise<() => Promise<string[]>> {
  let { cursor } = await ask('events/poll', { name, arguments: args });
  return async () => {
    const page = await ask('events/poll', { name, arguments: args, cursor });
    cursor = page['cursor'];
    return (page['events'] as { name: string; eventId: string }[]).map(
      (each) => `${each.name} ${each.eventId}`,
    );
  };
}

const namesIn = async (ask: Ask): Promise<string[]> =>
  ((await ask('events/list'))['events'] as { name: string }[]).map(({ name }) => name);

const asAda = (...scopes: string[]) => ({ caller: { subject: 'ada', scopes, claims: {} } });
const ticket = (id: string, queue = 'billing') => ({ id, queue });

describe('the events of a mounted server', () => {
  test.each(wires)(
    'come over $name under their mounted names, with the ids that their server gave them',
    async ({ over, revision }) => {
      const desk = makeDesk();
      const shop = makeShop(desk);
      await using client = await testClient(shop, { over, revision });
      expect((await client.events().all()).map(({ name }) => name)).toContain('desk_ticket_changed');
      const seen: string[] = [];
      await client.on('desk_ticket_changed', { queue: 'billing' }, ({ name, eventId, data }) => {
        expectTypeOf(data.id).toEqualTypeOf<string>();
        seen.push(`${name} ${eventId} ${data.id}`);
      });
      await desk.emit('ticket_changed', ticket('T-1', 'other'), { eventId: 'one' });
      await desk.emit('ticket_changed', ticket('T-2'), { eventId: 'two' });
      await until('the event has arrived', () => seen.length > 0);
      expect(seen).toEqual(['desk_ticket_changed two T-2']);
      await shop.close();
    },
  );

  test('are polled in both servers, whichever of them emits', async () => {
    const desk = makeDesk();
    const shop = makeShop(desk);
    const atDesk = await poller(inProcess(desk), 'ticket_changed');
    const atShop = await poller(inProcess(shop), 'desk_ticket_changed');
    expect(await desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' })).toEqual({
      eventId: 'one',
      isNew: true,
    });
    expect(await shop.emit('desk_ticket_changed', ticket('T-2'), { eventId: 'two' })).toEqual({
      eventId: 'two',
      isNew: true,
    });
    // Repeated by the other one, it is the same event.
    expect(await shop.emit('desk_ticket_changed', ticket('T-1'), { eventId: 'one' })).toMatchObject({
      isNew: false,
    });
    expect(await atDesk()).toEqual(['ticket_changed one', 'ticket_changed two']);
    expect(await atShop()).toEqual(['desk_ticket_changed one', 'desk_ticket_changed two']);
    await expect(shop.emit('desk_ticket_changed', { id: 1 } as never)).rejects.toThrow(
      'the data of "ticket_changed" does not fit',
    );
  });

  test('may be emitted by a tool that is mounted with them', async () => {
    const shop = makeShop();
    const news = await poller(inProcess(shop), 'desk_ticket_changed', { queue: 'new' });
    await inProcess(shop)('tools/call', { name: 'desk_open', arguments: { id: 'T-1' } });
    expect(await news()).toEqual(['desk_ticket_changed T-1-open']);
  });

  test('pass through every level, and two servers that have the same one', async () => {
    const desk = makeDesk();
    const shop = makeShop(desk);
    const town = createServer({ ...quiet, name: 'town', mount: { '': shop } });
    const other = makeShop(desk, { name: 'other' });
    const atTown = await poller(inProcess(town), 'desk_ticket_changed');
    const atOther = await poller(inProcess(other), 'desk_ticket_changed');
    await town.emit('desk_ticket_changed', ticket('T-1'), { eventId: 'one' });
    expect(await atTown()).toEqual(['desk_ticket_changed one']);
    expect(await atOther()).toEqual(['desk_ticket_changed one']);
  });

  test('are told to the subscribers of other processes', async () => {
    const store = memoryStore();
    const bus = memoryBus();
    const [desk, otherDesk] = [makeDesk(), makeDesk()];
    const shop = makeShop(desk, { store, bus });
    makeShop(otherDesk, { store, bus });
    await using client = await testClient(shop);
    const seen: string[] = [];
    await client.on('desk_ticket_changed', {}, ({ eventId }) => void seen.push(eventId));
    await otherDesk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    await until('the event of the other process has arrived', () => seen.length > 0);
    expect(seen).toEqual(['one']);
  });

  test('still reach the server itself when the one that it was mounted in is closed', async () => {
    const desk = makeDesk({ store: memoryStore() });
    const shop = makeShop(desk, { store: memoryStore() });
    await desk.start();
    const news = await poller(inProcess(desk), 'ticket_changed');
    await shop.close();
    await desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    expect(await news()).toEqual(['ticket_changed one']);
  });

  test('are kept by both servers when emit is repeated after the store of one of them has failed, and told once', async () => {
    let isFailing = false;
    const kept = memoryStore();
    const store = new Proxy(kept, {
      get(target, key) {
        if (key === 'write' && isFailing) return async () => Promise.reject(new Error('the disk is full'));
        return (Reflect.get(target, key) as (...args: unknown[]) => unknown).bind(target);
      },
    });
    const desk = makeDesk({ store: memoryStore() });
    const shop = makeShop(desk, { store });
    const atDesk = await poller(inProcess(desk), 'ticket_changed');
    const atShop = await poller(inProcess(shop), 'desk_ticket_changed');
    isFailing = true;
    const emit = () => desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    await expect(emit()).rejects.toThrow(/may not have the event "one".*with this eventId.*disk is full/);
    isFailing = false;
    expect(await emit()).toEqual({ eventId: 'one', isNew: false });
    expect(await emit()).toEqual({ eventId: 'one', isNew: false });
    expect(await atDesk()).toEqual(['ticket_changed one']);
    expect(await atShop()).toEqual(['desk_ticket_changed one']);
  });

  test('come and go with their definitions and with the mount, and subscribers are told', async () => {
    const desk = makeDesk();
    const shop = createServer({ ...quiet, name: 'shop', changes: ['events'], events: {} });
    await using client = await testClient(shop);
    const names = async () => (await client.events().all()).map(({ name }) => name);
    expect(await names()).toEqual([]);
    const mounted = shop.mount('desk', desk);
    expect(await names()).toContain('desk_ticket_changed');
    const closed = desk.event('closed', event({ payload }));
    const following = await client.on('desk_closed' as never, {}, () => undefined);
    closed.remove();
    expect(await soon('the end of the removed type', following.ended)).toMatchObject({
      code: 'invalid_params',
    });
    const other = await client.on('desk_ticket_changed' as never, {}, () => undefined);
    mounted.remove();
    expect(await soon('the end of the mount', other.ended)).toMatchObject({ code: 'invalid_params' });
    expect(await names()).toEqual([]);
    await expect(desk.emit('ticket_changed', ticket('T-9'))).resolves.toMatchObject({ isNew: true });
  });
});

describe('the rules of a mounted server and of the outer one', () => {
  test('must both be satisfied to list a type and to subscribe to it', async () => {
    const shop = makeShop(makeDesk(), { access: { tags: { admin: { scopes: ['shop:admin'] } } } });
    expect(shop.scopes).toEqual(['desk:audit', 'shop:admin']);
    const half = inProcess(shop, asAda('desk:audit'));
    const whole = inProcess(shop, asAda('desk:audit', 'shop:admin'));
    expect(await namesIn(half)).toEqual(['desk_ticket_changed']);
    expect(await namesIn(whole)).toEqual(['desk_ticket_changed', 'desk_audited']);
    await expect(half('events/poll', { name: 'desk_audited' })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await whole('events/poll', { name: 'desk_audited' })).toHaveProperty('cursor');
  });

  test('end the stream of a caller that loses them, before the next event', async () => {
    let isAllowed = true;
    const desk = makeDesk();
    const shop = makeShop(transform(desk, { events: { ticket_changed: { allow: () => isAllowed } } }));
    await using client = await testClient(shop, { caller: { subject: 'ada' } });
    const seen: string[] = [];
    const following = await client.on(
      'desk_ticket_changed' as never,
      {},
      ({ eventId }) => void seen.push(eventId),
    );
    isAllowed = false;
    await desk.emit('ticket_changed', ticket('T-1'));
    expect(await soon('the end', following.ended)).toMatchObject({ code: 'forbidden' });
    expect(seen).toEqual([]);
  });

  test('with transform rename, describe and hide types, and every hides those that nobody named', async () => {
    const desk = makeDesk();
    const shop = makeShop(
      transform(desk, {
        events: { ticket_changed: { name: 'changed', description: 'It changed', tags: ['loud'] } },
        every: ({ kind, tags }) =>
          kind === 'event' && tags.includes('admin') ? { hidden: true } : undefined,
      }),
    );
    const ask = inProcess(shop);
    expect((await ask('events/list'))['events']).toMatchObject([
      { name: 'desk_changed', description: 'It changed', _meta: { 'fullmcp/tags': ['loud'] } },
    ]);
    const news = await poller(ask, 'desk_changed');
    await desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    await desk.emit('audited', ticket('T-2'), { eventId: 'two' });
    expect(await news()).toEqual(['desk_changed one']);
    await expect(ask('events/poll', { name: 'desk_audited' })).rejects.toThrow('Unknown type of events');
    desk.event('later', event({ payload, tags: ['admin'] }));
    expect(await namesIn(ask)).toEqual(['desk_changed']);
    expect(() => transform(desk, { events: { ticket_chnged: { hidden: true } } })).toThrow(
      'Did you mean "ticket_changed"?',
    );
    expect(() => transform(desk, { events: { audited: { title: 'x' } as object } })).toThrow('title');
  });

  test('with transform change types before they are served', async () => {
    const events = {
      first: event({ payload }),
      second: event({ payload }),
    };
    const changed = transform({ events }, { events: { first: { hidden: true }, second: { name: 'third' } } });
    const server = createServer({ ...quiet, name: 'changed', ...changed });
    expect(await namesIn(inProcess(server))).toEqual(['third']);
    const news = await poller(inProcess(server), 'third');
    await server.emit('third', ticket('T-1'), { eventId: 'one' });
    expect(await news()).toEqual(['third one']);
  });
});

test('the middleware of a mounted server is around requests for its events, with its own names, and sees none that the rules refuse', async () => {
  const seen: string[] = [];
  const desk = makeDesk({
    use: [
      async (call: { method: string; params: JsonObject }, next: (call: unknown) => unknown) => {
        seen.push(`${call.method} ${call.params['name']}`);
        return next(call);
      },
    ],
  });
  const shop = makeShop(desk);
  const ask = inProcess(shop, asAda());
  await ask('events/list');
  await ask('events/poll', { name: 'desk_ticket_changed' });
  await expect(ask('events/poll', { name: 'desk_audited' })).rejects.toMatchObject({ code: 'forbidden' });
  expect(seen).toEqual(['events/poll ticket_changed']);
});

test('a type that cannot be mounted is named in the error', () => {
  const long = createServer({ ...quiet, name: 'long', events: { ['x'.repeat(128)]: event({ payload }) } });
  expect(() => createServer({ ...quiet, name: 'shop', mount: { long } })).toThrow(DefinitionError);
  const hooked = createServer({
    ...quiet,
    name: 'hooked',
    webhooks: {},
    events: { hook: event({ payload, delivery: ['webhook'] }) },
  });
  expect(() => createServer({ ...quiet, name: 'shop', mount: { hooked } })).toThrow(
    'event "hooked_hook": its events are delivered only to webhooks',
  );
});

describe('webhooks of a server that others are mounted in', () => {
  let receiver: Receiver;
  const secret = secretOf(1);

  async function subscribed(desk: ReturnType<typeof makeDesk>, store = memoryStore()) {
    receiver = await startReceiver();
    opened.push(receiver.close);
    const shop = makeShop(desk, {
      store,
      webhooks: { privateHosts: [receiver.origin] },
      auth: bearer((token) => ({ subject: token, scopes: ['desk:audit'] })),
    });
    const served = await serve(shop, { port: 0, signals: false });
    opened.push(() => served.close());
    const headers = { authorization: 'Bearer ann' };
    const ask = async (method: string, params: Record<string, unknown>) =>
      JSON.parse((await modern(String(served.url), method, params, { headers })).text);
    const delivery = { mode: 'webhook', url: receiver.url(), secret };
    const { result } = await ask('events/subscribe', { name: 'desk_ticket_changed', delivery, cursor: null });
    return { ask, result };
  }

  test('get events that the mounted server emits, although that has no webhooks of its own', async () => {
    const desk = makeDesk();
    const { ask, result } = await subscribed(desk);
    expect(result).toMatchObject({ truncated: false });
    const { result: listed } = await ask('events/list', {});
    expect(listed.events[0].delivery).toEqual(['webhook', 'push', 'poll']);
    await desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    await until('the webhook has arrived', () => receiver.events().length > 0);
    expect(receiver.events()[0]).toMatchObject({
      id: 'one',
      body: { eventId: 'one', name: 'desk_ticket_changed', data: { id: 'T-1' } },
    });
  });

  test('end when they are unsubscribed, and know the type by its mounted name alone', async () => {
    const desk = makeDesk();
    const { ask } = await subscribed(desk);
    const delivery = { mode: 'webhook', url: receiver.url('/other'), secret };
    expect(
      (await ask('events/subscribe', { name: 'ticket_changed', delivery, cursor: null })).error.code,
    ).toBe(-32011);
    const gone = await ask('events/unsubscribe', {
      name: 'desk_ticket_changed',
      delivery: { url: receiver.url() },
    });
    expect(gone.error).toBeUndefined();
    await desk.emit('ticket_changed', ticket('T-1'), { eventId: 'one' });
    expect(receiver.events()).toEqual([]);
  });
});
