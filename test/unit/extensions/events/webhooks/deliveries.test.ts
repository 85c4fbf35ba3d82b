import { McpError, memoryStore, type Store } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { webhookQueues } from '../../../../../src/extensions/events/webhooks/stored/places.js';
import { accept, type Receiver, secretOf, startReceiver } from '../../../../support/events/receiver.js';
import { startWorld, type WebhookWorld, type WorldInit } from '../../../../support/events/webhook-world.js';
import { until } from '../../../../support/until.js';

const secret = secretOf(1);
let receiver: Receiver;
const worlds: WebhookWorld[] = [];

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close(0)));
  await receiver.close();
});

async function start(init: WorldInit = {}): Promise<WebhookWorld> {
  const world = await startWorld({ ...init, options: { privateHosts: [receiver.origin], ...init.options } });
  worlds.push(world);
  return world;
}

function params(change: Record<string, unknown> = {}, path?: string) {
  return { name: 'ticket', delivery: { mode: 'webhook', url: receiver.url(path), secret }, ...change };
}

async function failureOf(work: Promise<unknown>): Promise<{ code: number; data?: unknown; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!McpError.is(error)) throw error ?? new Error('It did not fail');
  return error.toWire('2026-07-28');
}

const idsOf = (): readonly string[] => receiver.events().map(({ id }) => id);

/** The keys and values of a store. */
async function dump(store: Store, prefix = 'event'): Promise<readonly string[]> {
  const entries = await store.page(prefix, { limit: 10_000 });
  return entries.map(({ key, value }) => `${key} ${JSON.stringify(value)}`);
}

describe('a subscription', () => {
  test('gets the events from now on that are for its arguments, signed and under their own ids', async () => {
    const { emit, subscribe } = await start();
    await emit({ queue: 'billing' }, 'before');
    const result = await subscribe('ann', params({ arguments: { queue: 'billing' } }));
    expect(result).toEqual({
      id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
      refreshBefore: expect.stringMatching(/^\d{4}-.*Z$/),
      cursor: expect.any(String),
      truncated: false,
    });
    await emit({ queue: 'sales' }, 'other');
    await emit({ queue: 'billing', text: '</script>\u2028' }, 'mine');
    await until('the event has arrived', () => receiver.events().length === 1);
    const [message] = receiver.events();
    expect(message?.body).toEqual({
      eventId: 'mine',
      name: 'ticket',
      timestamp: expect.any(String),
      data: { queue: 'billing', text: '</script>\u2028' },
      cursor: expect.any(String),
    });
    expect(message).toMatchObject({ id: 'mine', subscription: result.id });
    expect(await message?.isSignedWith(secret)).toBe(true);
  });

  test('has the same id for the same key, and is made once', async () => {
    const world = await start();
    const first = await world.subscribe('ann', params({ arguments: { queue: 'a', x: 1 } }));
    const again = await world.subscribe('ann', params({ arguments: { x: 1, queue: 'a' }, id: 'sub_forged' }));
    expect(again.id).toBe(first.id);
    const others = [
      await world.subscribe('bob', params({ arguments: { queue: 'a', x: 1 } })),
      await world.subscribe('ann', params({ arguments: { queue: 'b' } })),
      await world.subscribe('ann', params({ arguments: { queue: 'a', x: 1 } }, '/other?k=2')),
    ];
    expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(4);
    await world.emit({ queue: 'a' }, 'e1');
    await until('the three have it', () => receiver.events().length === 3);
    expect(new Set(receiver.events().map(({ subscription }) => subscription))).toEqual(
      new Set([first.id, others[0]?.id, others[2]?.id]),
    );
  });

  test('that is made many times at once is one, and asks its receiver once', async () => {
    const world = await start();
    const all = await Promise.all(Array.from({ length: 8 }, () => world.subscribe('ann', params())));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(receiver.envelopes('verification')).toHaveLength(1);
    await world.emit({}, 'e1');
    await until('the event has arrived', () => idsOf().length > 0);
    expect(await dump(world.store, 'event-subs:')).toEqual([expect.stringContaining('{"count":1}')]);
  });

  test('is not made if its receiver does not want it, and then leaves nothing behind', async () => {
    receiver.answer = (_message, response) => response.end('{"challenge":"wrong"}');
    const world = await start();
    expect(await failureOf(world.subscribe('ann', params()))).toMatchObject({
      code: -32015,
      data: { reason: 'challenge_failed' },
    });
    await world.emit({}, 'e1');
    for (const kind of ['event-sub', 'event-subs', 'event-host', 'event-index:', 'event-progress'])
      expect(await dump(world.store, kind)).toEqual([]);
    expect(receiver.events()).toEqual([]);
  });

  test('needs a caller, a known type, and rights, in this order', async () => {
    const world = await start({ types: { ticket: { admits: () => false } } });
    const wrong = { name: 'nothing', arguments: 7, delivery: {} };
    expect(await failureOf(world.subscribe('', wrong))).toMatchObject({ code: -32012 });
    expect(await failureOf(world.subscribe('', wrong, 'sep'))).toMatchObject({ code: -32024 });
    expect(await failureOf(world.subscribe('ann', { delivery: {} }))).toMatchObject({ code: -32602 });
    expect(await failureOf(world.subscribe('ann', { name: 'nothing', delivery: {} }))).toMatchObject({
      code: -32011,
      data: { kind: 'event' },
    });
    expect(await failureOf(world.subscribe('ann', { name: 'ticket', delivery: {} }))).toMatchObject({
      code: -32012,
    });
    expect(await failureOf(world.unsubscribe('', params()))).toMatchObject({ code: -32012 });
    expect(receiver.messages).toEqual([]);
  });

  test.each([
    [undefined, 86_400_000],
    [null, 30 * 86_400_000],
    [1, 1000],
    [1000, 1000],
    [3_600_000, 3_600_000],
    [90 * 86_400_000, 30 * 86_400_000],
  ])('asked for %s ms gets %d ms', async (ttlMs, granted) => {
    const { subscribe } = await start();
    const before = Date.now();
    const { refreshBefore } = await subscribe('ann', params(ttlMs === undefined ? {} : { ttlMs }));
    const until = Date.parse(refreshBefore);
    expect(until).toBeGreaterThanOrEqual(before + granted);
    expect(until).toBeLessThanOrEqual(Date.now() + granted);
  });

  test('ends with its time, and can be made again from its cursor', async () => {
    const world = await start();
    const { cursor } = await world.subscribe('ann', params({ ttlMs: 1000 }));
    await until('it has ended', async () => (await dump(world.store, 'event-sub:')).length === 0);
    expect(await dump(world.store, 'event-index:')).toEqual([]);
    await world.emit({}, 'missed');
    await world.emit({}, 'missed-too');
    await world.subscribe('ann', params({ cursor }));
    await until('the events have arrived', () => receiver.events().length === 2);
    expect(idsOf()).toEqual(['missed', 'missed-too']);
    expect(await world.unsubscribe('ann', params())).toEqual({});
  });
});

describe('unsubscribe', () => {
  test('ends a subscription, and may be repeated; an unknown one is not found', async () => {
    const world = await start();
    await world.subscribe('ann', params({ arguments: { queue: 'a' } }));
    expect(await failureOf(world.unsubscribe('bob', params({ arguments: { queue: 'a' } })))).toMatchObject({
      code: -32011,
      data: { kind: 'subscription' },
    });
    expect(await failureOf(world.unsubscribe('ann', params(), 'sep'))).toMatchObject({ code: -32023 });
    expect(await world.unsubscribe('ann', params({ arguments: { queue: 'a' } }))).toEqual({});
    expect(await world.unsubscribe('ann', params({ arguments: { queue: 'a' } }))).toEqual({});
    await world.emit({ queue: 'a' }, 'late');
    const history = await world.history();
    await world.subscribe('ann', params({ cursor: history.cursorOf(await history.tail()) }));
    await world.emit({ queue: 'a' }, 'later');
    await until('the later event has arrived', () => idsOf().includes('later'));
    expect(idsOf()).toEqual(['later']);
    for (const kind of ['event-sub:', 'event-subs:', 'event-host:', 'event-index:', 'event-progress:'])
      expect(await dump(world.store, kind)).toHaveLength(1);
  });

  test('works for a type that is no longer offered', async () => {
    const world = await start();
    await world.subscribe('ann', params());
    delete world.types['ticket'];
    expect(await world.unsubscribe('ann', params())).toEqual({});
  });
});

describe('a refresh', () => {
  test('replaces the secret, signs with both for a while, and tells how deliveries are', async () => {
    const world = await start();
    const { id, cursor } = await world.subscribe('ann', params());
    const delivery = { mode: 'webhook', url: receiver.url(), secret: secretOf(2) };
    await world.emit({}, 'e1');
    await until('the first event has arrived', () => idsOf().length === 1);
    await until('it is noted', async () =>
      (await dump(world.store, 'event-progress:')).join().includes('lastDelivery'),
    );
    const refreshed = await world.subscribe('ann', params({ delivery }));
    expect(refreshed).toMatchObject({
      id,
      truncated: false,
      deliveryStatus: { active: true, lastDeliveryAt: expect.any(String), lastError: null },
    });
    const history = await world.history();
    const [before, after] = [cursor, refreshed.cursor].map((each) => history.positionOf(each));
    expect(history.compare(before as never, after as never)).toBeLessThan(0);
    await world.emit({}, 'e2');
    await until('the second event has arrived', () => idsOf().length === 2);
    const [, message] = receiver.events();
    expect(String(message?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(await message?.isSignedWith(secretOf(2))).toBe(true);
    expect(await message?.isSignedWith(secret)).toBe(true);
    expect(receiver.envelopes('verification')).toHaveLength(1);
  });

  test('never moves the cursor back, and keeps it before an event that is being retried', async () => {
    const world = await start({ times: { retryInMs: () => 60_000 } });
    const cursors = [(await world.subscribe('ann', params())).cursor];
    await world.emit({}, 'e1');
    await until('e1 has arrived', () => idsOf().length === 1);
    await until('it is noted', async () =>
      (await dump(world.store, 'event-progress:')).join().includes('lastDelivery'),
    );
    cursors.push((await world.subscribe('ann', params())).cursor);
    receiver.answer = (message, response) =>
      message.id === 'e2' ? response.writeHead(500).end() : accept(message, response);
    await world.emit({}, 'e2');
    await world.emit({}, 'e3');
    await until('e3 has arrived', () => idsOf().includes('e3'));
    await until('it is noted', async () =>
      (await dump(world.store, 'event-progress:')).join().includes('"id":"e2"'),
    );
    const status = await world.subscribe('ann', params());
    expect(status['deliveryStatus']).toMatchObject({ active: true });
    cursors.push(status.cursor);
    const history = await world.history();
    const positions = cursors.map((each) => history.positionOf(each));
    expect(history.compare(positions[0] as never, positions[1] as never)).toBeLessThan(0);
    expect(history.compare(positions[1] as never, positions[2] as never)).toBe(0);
    const { events } = await history.read(positions[2] as never, 10);
    expect(events.map(({ eventId }) => eventId)).toEqual(['e2', 'e3']);
  });

  test('moves the cursor past events that are for others', async () => {
    const world = await start();
    const mine = params({ arguments: { queue: 'mine' } });
    await world.subscribe('ann', mine);
    for (let at = 0; at < 5; at++) await world.emit({ queue: 'other' });
    const history = await world.history();
    const tail = await history.tail();
    await until('the cursor is at the end', async () => {
      const { cursor } = await world.subscribe('ann', mine);
      return history.compare(history.positionOf(cursor) as never, tail) === 0;
    });
    expect(receiver.events()).toEqual([]);
  });

  test('with a cursor has no effect on a subscription that lasts', async () => {
    const world = await start();
    const { cursor } = await world.subscribe('ann', params());
    await world.emit({}, 'e1');
    await until('e1 has arrived', () => idsOf().length === 1);
    await world.subscribe('ann', params({ cursor }));
    await world.emit({}, 'e2');
    await until('e2 has arrived', () => idsOf().length > 1);
    expect(idsOf()).toEqual(['e1', 'e2']);
  });
});

describe('a cursor', () => {
  test.each(['foreign', 'aaaaaaaaaa.1.2.3', '', 'x'.repeat(5000)])(
    'that is not ours begins now, and says so: %.20s',
    async (cursor) => {
      const world = await start();
      await world.emit({}, 'e1');
      const result = await world.subscribe('ann', params({ cursor }));
      expect(result.truncated).toBe(true);
      const history = await world.history();
      expect(history.positionOf(result.cursor)).toEqual(await history.tail());
    },
  );

  test('with a largest age leaves out older events, and says so', async () => {
    const world = await start();
    const history = await world.history();
    const start0 = history.cursorOf(await history.tail());
    const old = new Date(Date.now() - 3_600_000).toISOString();
    await history.append([{ eventId: 'old', timestamp: old, data: {} }]);
    await world.emit({}, 'young');
    const result = await world.subscribe('ann', params({ cursor: start0, maxAgeMs: 60_000 }));
    expect(result.truncated).toBe(true);
    await until('the young event has arrived', () => idsOf().length === 1);
    expect(idsOf()).toEqual(['young']);
    const other = await world.subscribe('ann', params({ cursor: null, maxAgeMs: 1 }, '/other'));
    expect(other.truncated).toBe(false);
  });
});

describe('a delivery that fails', () => {
  test('is repeated with the same id and body, a new timestamp and a new signature', async () => {
    const world = await start({ times: { retryInMs: (failures) => (failures < 5 ? 1100 : undefined) } });
    await world.subscribe('ann', params());
    let count = 0;
    receiver.answer = (message, response) =>
      count++ < 2 ? response.writeHead(503).end() : accept(message, response);
    await world.emit({}, 'e1');
    await until('there were three attempts', () => receiver.events().length === 3);
    const messages = receiver.events();
    expect(new Set(messages.map(({ id }) => id))).toEqual(new Set(['e1']));
    expect(new Set(messages.map(({ raw }) => Buffer.from(raw).toString())).size).toBe(1);
    expect(new Set(messages.map(({ timestamp }) => timestamp)).size).toBe(3);
    expect(new Set(messages.map(({ headers }) => headers['webhook-signature'])).size).toBe(3);
    for (const message of messages) expect(await message.isSignedWith(secret)).toBe(true);
  });

  test.each([410, 413])('is final with the status %d, and other events go on', async (status) => {
    const world = await start();
    await world.subscribe('ann', params());
    receiver.answer = (message, response) =>
      message.id === 'e1' ? response.writeHead(status).end() : accept(message, response);
    await world.emit({}, 'e1');
    for (let at = 2; at < 8; at++) await world.emit({}, `e${at}`);
    await until('the last event has arrived', () => idsOf().includes('e7'));
    expect(idsOf().filter((id) => id === 'e1')).toHaveLength(1);
  });

  test('is given up after five attempts, and the operator can send it again', async () => {
    const world = await start();
    const { id } = await world.subscribe('ann', params({}, '/hook?token=query-secret'));
    receiver.answer = (_message, response) => response.writeHead(500).end('text of the endpoint');
    await world.emit({ queue: 'a' }, 'e1');
    const all = async () => {
      const found = [];
      for await (const each of world.hooks.deliveries()) found.push(each);
      return found;
    };
    await until('it was given up', async () => (await all())[0]?.dead.length === 1);
    expect(receiver.events()).toHaveLength(5);
    expect(await all()).toEqual([
      {
        ...{
          subscription: id,
          name: 'ticket',
          url: `${receiver.origin}/hook`,
          subject: 'ann',
          status: 'active',
        },
        ...{ lastDeliveryAt: undefined, lastError: 'http_5xx', retrying: [] },
        dead: [{ eventId: 'e1', reason: 'http_5xx', attempts: 5, at: expect.any(String) }],
      },
    ]);
    expect(world.log.join('\n')).not.toMatch(/text of the endpoint|query-secret/);
    receiver.answer = accept;
    expect(await world.hooks.redeliver(id, 'other')).toBe(0);
    expect(await world.hooks.redeliver('sub_unknown')).toBe(0);
    expect(await world.hooks.redeliver(id)).toBe(1);
    await until('it was delivered', async () => (await all())[0]?.dead.length === 0);
    expect(idsOf()).toEqual(['e1', 'e1', 'e1', 'e1', 'e1', 'e1']);
    expect(await receiver.events()[5]?.isSignedWith(secret)).toBe(true);
  });

  test('does not hold up other events, nor other subscriptions', async () => {
    const world = await start();
    await world.subscribe('ann', params());
    await world.subscribe('bob', params({}, '/bob'));
    const waiting: (() => void)[] = [];
    receiver.answer = (message, response) => {
      if (message.path === '/hook') waiting.push(() => accept(message, response));
      else accept(message, response);
    };
    for (let at = 0; at < 30; at++) await world.emit({}, `e${at}`);
    const bobs = () => receiver.events().filter(({ path }) => path === '/bob');
    await until('bob has all', () => bobs().length === 30);
    expect(
      bobs()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Array.from({ length: 30 }, (_, at) => `e${at}`).sort());
    receiver.answer = accept;
    for (const reply of waiting) reply();
    await until(
      'ann has all',
      () =>
        new Set(
          receiver
            .events()
            .filter(({ path }) => path === '/hook')
            .map(({ id }) => id),
        ).size === 30,
    );
  });

  test('nearly always suspends the subscription, until it is refreshed', async () => {
    const world = await start({ times: { retryInMs: () => undefined } });
    await world.subscribe('ann', params());
    receiver.answer = (_message, response) => response.writeHead(410).end();
    for (let at = 0; at < 10; at++) await world.emit({}, `gone${at}`);
    await until('it is suspended', () => world.log.some((line) => line.includes('hardly ever succeed')));
    receiver.answer = accept;
    await world.emit({}, 'later');
    const statuses = [];
    for await (const { status } of world.hooks.deliveries()) statuses.push(status);
    expect(statuses).toEqual(['suspended']);
    expect(idsOf()).not.toContain('later');
    const refreshed = await world.subscribe('ann', params());
    expect(refreshed['deliveryStatus']).toMatchObject({ active: true, lastError: 'http_4xx' });
    await until('the later event has arrived', () => idsOf().includes('later'));
    expect(idsOf().filter((id) => id === 'later')).toHaveLength(1);
  });
});

describe('a subscription whose ground is gone', () => {
  test('ends when its caller loses the rights, and nothing more is delivered', async () => {
    let mayRead = true;
    const world = await start({ types: { ticket: { admits: () => mayRead } } });
    const { id } = await world.subscribe('ann', params(), 'sep');
    mayRead = false;
    await world.emit({ queue: 'secret' }, 'e1');
    await until('it was terminated', () => receiver.envelopes('terminated').length === 1);
    const [last] = receiver.envelopes('terminated');
    expect(last?.id).toMatch(/^msg_terminated_.+/);
    expect(last?.subscription).toBe(id);
    expect(last?.body).toMatchObject({ error: { code: -32024, message: expect.any(String) } });
    expect(await last?.isSignedWith(secret)).toBe(true);
    await until('nothing is left', async () => (await dump(world.store, 'event-sub:')).length === 0);
    expect(receiver.events()).toEqual([]);
    mayRead = true;
    await world.emit({}, 'e2');
    await world.subscribe('bob', params());
    await world.emit({}, 'e3');
    await until('bob has his event', () => idsOf().length === 1);
    expect(idsOf()).toEqual(['e3']);
  });

  test('ends in the middle of events that are being sent', async () => {
    let mayRead = true;
    const world = await start({ types: { ticket: { admits: () => mayRead } } });
    await world.subscribe('ann', params());
    receiver.answer = (message, response) => {
      mayRead = false;
      accept(message, response);
    };
    const { append, group } = await world
      .history()
      .then((history) => ({ append: history.append.bind(history), group: history.group }));
    const timestamp = new Date().toISOString();
    const events = Array.from({ length: 20 }, (_, at) => ({ eventId: `e${at}`, timestamp, data: {} }));
    await append(events, world.hooks.changes(group));
    world.hooks.onEvents();
    await until('it was terminated', () => receiver.envelopes('terminated').length === 1);
    // The first ones are sent at the same time.
    expect(receiver.events().length).toBeGreaterThan(0);
    expect(receiver.events().length).toBeLessThanOrEqual(4);
  });

  test('ends when its type is removed for good', async () => {
    const world = await start({ times: { misfitMs: 0 } });
    await world.subscribe('ann', params());
    delete world.types['ticket'];
    expect(await failureOf(world.subscribe('ann', params()))).toMatchObject({ code: -32011 });
    const [head] = await world.store.page('event-sub:');
    const { delivery: queue } = await webhookQueues('tickets');
    const key = String(head?.key.slice('event-sub:'.length));
    await world.store.write([{ do: 'enqueue', queue, key }]);
    await until('it was terminated', () => receiver.envelopes('terminated').length === 1);
    expect(receiver.envelopes('terminated')[0]?.body).toMatchObject({
      error: { code: -32011, data: { kind: 'event' } },
    });
  });

  test('ends when the schema of its type changes so that it cannot read events', async () => {
    const store = memoryStore();
    const world = await start({ store });
    await world.subscribe('ann', params());
    await world.subscribe('bob', params({}, '/bob'));
    const schema = (properties: object) => ({ payloadSchema: { type: 'object', properties } });
    world.types['ticket'] = schema({ queue: { type: 'string' }, more: { type: 'number' } });
    await world.emit({}, 'additive');
    await until('both have it', () => receiver.events().length === 2);
    await world.close();
    const next = await start({
      store,
      types: { ticket: schema({ queue: { type: 'number' } }) },
      times: { misfitMs: 0 },
    });
    await next.emit({}, 'breaking');
    await until('both were terminated', () => receiver.envelopes('terminated').length === 2);
    expect(receiver.envelopes('terminated')[0]?.body).toMatchObject({
      error: { code: -32014, data: { feature: 'payloadSchema', reason: 'schema_changed' } },
    });
    expect(receiver.events()).toHaveLength(2);
  });
});

describe('the limits', () => {
  test('of a caller, a host and the server are told before anything is sent', async () => {
    const world = await start({ options: { maxPerCaller: 2, maxPerHost: 4, maxSubscriptions: 5 } });
    const queue = (name: string) => params({ arguments: { queue: name } });
    await world.subscribe('ann', queue('1'));
    await world.subscribe('ann', queue('2'));
    const full = { code: -32013, data: { limit: 'subscriptions', max: 2 } };
    expect(await failureOf(world.subscribe('ann', queue('3')))).toMatchObject(full);
    await world.subscribe('ann', queue('2'));
    await world.unsubscribe('ann', queue('2'));
    await world.subscribe('ann', queue('4'));
    await world.subscribe('bob', queue('1'));
    await world.subscribe('bob', queue('2'));
    const asked = receiver.messages.length;
    expect(await failureOf(world.subscribe('cat', queue('1')))).toMatchObject({ data: { max: 4 } });
    expect(receiver.messages).toHaveLength(asked);
    expect(await dump(world.store, 'event-subs:')).toHaveLength(2);
  });

  test('of a store in memory are told, too, and leave nothing behind', async () => {
    const store = memoryStore({ maxEntries: 40, callerShare: 0.05 });
    const world = await start({ store });
    const subscribe = (queue: string) => world.subscribe(queue, params({ arguments: { queue } }));
    await subscribe('1');
    await subscribe('2');
    const full = {
      code: -32013,
      message: expect.stringContaining('no room'),
      data: { limit: 'subscriptions' },
    };
    expect(await failureOf(subscribe('3'))).toMatchObject(full);
    expect(world.log.join()).toContain('Raise one of these, or callerShare.');
    expect(await dump(store, 'event-sub:')).toHaveLength(2);
    await world.unsubscribe('1', params({ arguments: { queue: '1' } }));
    await subscribe('3');
  });

  test('hold under a flood', async () => {
    const world = await start({ options: { maxPerCaller: 3, allow: [receiver.origin] } });
    const all = await Promise.allSettled(
      Array.from({ length: 40 }, (_, at) =>
        world.subscribe('ann', params({ arguments: { queue: `${at}` } })),
      ),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await dump(world.store, 'event-index:')).toHaveLength(3);
    expect(await dump(world.store, 'event-subs:')).toEqual([expect.stringContaining('{"count":3}')]);
  });
});

test('subscriptions of one host are delivered one after the other, and none of them is put back into the queue', async () => {
  const inner = memoryStore();
  let putBack = 0;
  const store: Store = {
    ...inner,
    write(changes, options) {
      const isRest = changes.length === 1 && changes[0]?.do === 'release';
      if (isRest) putBack++;
      return inner.write(changes, options);
    },
  };
  const { emit, subscribe } = await start({ store, options: { allow: [receiver.origin] } });
  for (let n = 0; n < 40; n++) await subscribe('ann', params({}, `/${n}`));
  await emit({}, 'one');
  await until('all have the event', () => receiver.events().length === 40);
  expect(new Set(receiver.events().map(({ path }) => path)).size).toBe(40);
  expect(putBack).toBe(0);
});

test('a secret is nowhere in the clear: not in the store, not in a log, not in an error', async () => {
  const world = await start({ secrets: ['a'.repeat(40)] });
  const planted = secretOf(7);
  const delivery = { url: receiver.url('/hook?token=planted-query'), secret: planted };
  await world.subscribe('ann', params({ delivery }));
  receiver.answer = (_message, response) => response.writeHead(500).end('planted-reply');
  await world.emit({}, 'e1');
  await until('it was given up', async () => (await dump(world.store, 'event-dead:')).length === 1);
  const stored = (await dump(world.store)).join('\n');
  expect(stored).not.toContain(planted.slice('whsec_'.length));
  expect(stored).not.toContain('planted-reply');
  expect(world.log.length).toBeGreaterThan(0);
  expect(world.log.join('\n')).not.toMatch(/planted|whsec_/);
  const next = await start({ store: world.store, secrets: ['b'.repeat(40), 'a'.repeat(40)] });
  receiver.answer = accept;
  await next.emit({}, 'e2');
  await until('a process with a newer secret reads it', () => idsOf().includes('e2'));
  expect(await receiver.events().at(-1)?.isSignedWith(planted)).toBe(true);
});

test('an event that is larger than a webhook may be is put aside, and others go on', async () => {
  const world = await start();
  await world.subscribe('ann', params());
  await world.emit({ text: 'x'.repeat(263_000) }, 'large');
  await world.emit({}, 'small');
  await until('the small one has arrived', () => idsOf().includes('small'));
  expect(idsOf()).toEqual(['small']);
  await until(
    'the large one is put aside',
    async () => (await dump(world.store, 'event-dead:')).length === 1,
  );
  const [letter] = await dump(world.store, 'event-dead:');
  expect(letter).toContain('"reason":"too_large"');
});

test('a gap is told once, before the events after it', async () => {
  const world = await start({ times: { retryInMs: () => undefined } });
  await world.subscribe('ann', params());
  const history = await world.history();
  const [key] = (await world.store.page('event-news:')).map((entry) => entry.key);
  const from = { ...(await history.tail()), segment: 1 };
  await world.emit({}, 'e1');
  await until('e1 has arrived', () => idsOf().length === 1);
  const progress = (await world.store.page('event-progress:'))[0];
  await world.close();
  await world.store.write([
    { do: 'put', key: progress?.key as string, value: { ...progress?.value, position: from } },
    {
      do: 'put',
      key: key as string,
      value: { type: history.group, range: { from, to: await history.tail() } },
    },
  ]);
  const next = await start({ store: world.store });
  await next.emit({}, 'e2');
  await until('e2 has arrived', () => idsOf().includes('e2'));
  await until('the gap was told', () => receiver.envelopes('gap').length === 1);
  const [gap] = receiver.envelopes('gap');
  expect(gap?.id).toMatch(/^msg_gap_.+/);
  expect(gap?.body['cursor']).toEqual(expect.any(String));
});

describe('a shutdown', () => {
  test('lets running requests finish, and another process goes on at once', async () => {
    const world = await start();
    await world.subscribe('ann', params());
    const waiting: (() => void)[] = [];
    receiver.answer = (message, response) => waiting.push(() => accept(message, response));
    await world.emit({}, 'e1');
    await until('e1 has arrived', () => idsOf().length === 1);
    const closing = world.close(30_000);
    await world.emit({}, 'e2');
    for (const reply of waiting) reply();
    await closing;
    expect(idsOf()).toEqual(['e1']);
    receiver.answer = accept;
    await start({ store: world.store });
    await until('e2 has arrived', () => idsOf().includes('e2'));
    expect(idsOf()).toEqual(['e1', 'e2']);
  });

  test('cuts requests that take longer, and their events are sent again', async () => {
    const world = await start();
    await world.subscribe('ann', params());
    receiver.answer = () => undefined;
    await world.emit({}, 'e1');
    await until('e1 has arrived', () => idsOf().length === 1);
    await world.close(10);
    receiver.answer = accept;
    await start({ store: world.store });
    await until('e1 has arrived again', () => idsOf().length === 2);
    expect(idsOf()).toEqual(['e1', 'e1']);
  });
});
