import { memoryStore, type Store, type StoreChange } from 'fullmcp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogPosition } from '../../../../../src/extensions/events/log/positions.js';
import { typePlace, webhookQueues } from '../../../../../src/extensions/events/webhooks/stored/places.js';
import { accept, type Receiver, secretOf, startReceiver } from '../../../../support/events/receiver.js';
import { startWorld, type WebhookWorld, type WorldInit } from '../../../../support/events/webhook-world.js';
import { until } from '../../../../support/until.js';

// Events come, and processes die, between two steps of another process.

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
  const world = await startWorld({ leaseMs: 300, ...init, options: { privateHosts: [receiver.origin] } });
  worlds.push(world);
  return world;
}

const params = (path?: string) => ({
  name: 'ticket',
  delivery: { url: receiver.url(path), secret: secretOf(1) },
});
const idsOf = () => receiver.events().map(({ id }) => id);

/** A store in which something else happens before the first write that fits. */
function before(
  fits: (changes: readonly StoreChange[]) => boolean,
  work: () => Promise<void>,
  store = memoryStore(),
) {
  const state = { isArmed: false };
  const raced: Store = {
    ...store,
    async write(changes, options) {
      if (state.isArmed && fits(changes)) {
        state.isArmed = false;
        await work();
      }
      return store.write(changes, options);
    },
  };
  return { raced, state, store };
}

test('an event that is emitted while the search for subscribers ends is found', async () => {
  let world: WebhookWorld;
  const { raced, state } = before(
    (changes) =>
      changes.some((each) => each.do === 'dequeue') &&
      changes.some((each) => each.do === 'put' && each.key.startsWith('event-wake:')),
    () => world.emit({ queue: 'a' }, 'e2'),
  );
  world = await start({ store: raced });
  await world.subscribe('ann', { ...params(), arguments: { queue: 'a' } });
  state.isArmed = true;
  // Nobody wants the first event, so that no delivery looks at the second one by chance.
  await world.emit({ queue: 'b' }, 'e1');
  await until('e2 has arrived', () => idsOf().length === 1);
  expect(state.isArmed).toBe(false);
  expect(idsOf()).toEqual(['e2']);
});

test('an event that is noted while a process leaves a subscription is delivered', async () => {
  let world: WebhookWorld;
  const { raced, state, store } = before(
    (changes) =>
      changes.some((each) => each.do === 'release') &&
      changes.some((each) => each.do === 'put' && each.key.startsWith('event-news:')),
    async () => {
      const [news] = await store.page('event-news:');
      await world.emit({}, 'e2');
      await until(
        'e2 was noted',
        async () => (await store.get(news?.key as string))?.version !== news?.version,
      );
    },
  );
  world = await start({ store: raced });
  await world.subscribe('ann', params());
  await world.emit({}, 'e0');
  await until('the first has arrived', () => idsOf().length === 1);
  await until('it is noted', async () =>
    (await store.page('event-news:')).every(({ value }) => value['range'] === undefined),
  );
  state.isArmed = true;
  await world.emit({}, 'e1');
  await until('all have arrived', () => idsOf().includes('e2'));
  expect(state.isArmed).toBe(false);
  expect(idsOf()).toEqual(['e0', 'e1', 'e2']);
});

test('a subscription gets exactly the events after its cursor, even if some are emitted while it is being made', async () => {
  let world: WebhookWorld;
  const { raced, state, store } = before(
    (changes) => changes.some((each) => each.do === 'put' && each.value['status'] === 'active'),
    async () => {
      const { group } = await world.history();
      const position = () => store.get(typePlace(group).position);
      const was = (await position())?.version;
      await world.emit({}, 'e1');
      await until('its subscribers were looked for', async () => (await position())?.version !== was);
    },
  );
  world = await start({ store: raced });
  state.isArmed = true;
  const { cursor } = await world.subscribe('ann', params());
  expect(state.isArmed).toBe(false);
  await world.emit({}, 'e2');
  await until('e2 has arrived', () => idsOf().includes('e2'));
  const history = await world.history();
  const { events } = await history.read(history.positionOf(cursor) as LogPosition, 10);
  expect(idsOf()).toEqual(events.map(({ eventId }) => eventId));
});

/** A store that a process loses before the first write that fits: everything after it fails for that process, as if it were dead. */
function dying(
  store: Store,
  fits: (changes: readonly StoreChange[]) => boolean,
): { readonly own: Store; isDead: boolean } {
  const state = {
    isDead: false,
    own: {
      ...store,
      async write(changes: readonly StoreChange[], options?: Parameters<Store['write']>[1]) {
        if (!state.isDead && fits(changes)) state.isDead = true;
        if (state.isDead) throw new Error('dead');
        return store.write(changes, options);
      },
      async claim(...given: Parameters<Store['claim']>) {
        if (state.isDead) throw new Error('dead');
        return store.claim(...given);
      },
      async renew(...given: Parameters<Store['renew']>) {
        if (state.isDead) throw new Error('dead');
        return store.renew(...given);
      },
    } satisfies Store,
  };
  return state;
}

const puts = (kind: string) => (changes: readonly StoreChange[]) =>
  changes.some((each) => each.do === 'put' && each.key.startsWith(kind));

test.each([
  ['the host is counted', puts('event-host:')],
  ['the subscription is in the index', puts('event-index:')],
  [
    'it is active',
    (changes: readonly StoreChange[]) =>
      changes.some((each) => each.do === 'put' && each.value['status'] === 'active'),
  ],
] as const)('a process that dies before %s leaves nothing behind', async (_what, fits) => {
  const store = memoryStore();
  const state = dying(store, fits);
  const dead = await start({ store: state.own, times: { startingMs: 100 } });
  await expect(dead.subscribe('ann', params())).rejects.toThrow();
  expect(state.isDead).toBe(true);
  const world = await start({ store, times: { startingMs: 100 } });
  await until('nothing is left', async () => (await store.page('event-sub')).length === 0);
  for (const kind of ['event-subs:', 'event-host', 'event-index:', 'event-progress:'])
    expect(await store.page(kind), kind).toEqual([]);
  await world.subscribe('ann', params());
  await world.emit({}, 'e1');
  await until('e1 has arrived', () => idsOf().length === 1);
});

test.each([
  ['it has noted the events for a subscriber', puts('event-news:')],
  ['it has noted how far it looked', puts('event-fanout-position:')],
  ['it has noted what was delivered', puts('event-progress:')],
] as const)('a process that dies before %s is replaced, and events keep their ids', async (_what, fits) => {
  const store = memoryStore();
  let isArmed = false;
  const state = dying(store, (changes) => isArmed && fits(changes));
  const dead = await start({ store: state.own });
  await dead.subscribe('ann', params());
  isArmed = true;
  await dead.emit({ n: 1 }, 'e1');
  await dead.emit({ n: 2 }, 'e2').catch(() => undefined);
  await until('the first is dead', () => state.isDead);
  const world = await start({ store });
  await world.emit({ n: 2 }, 'e2');
  await until('both have arrived', () => new Set(idsOf()).size === 2);
  const pairs = receiver.events().map(({ id, body }) => `${id} ${JSON.stringify(body['data'])}`);
  expect(new Set(pairs)).toEqual(new Set(['e1 {"n":1}', 'e2 {"n":2}']));
});

test('a process that dies while it ends a subscription has ended it', async () => {
  const store = memoryStore();
  const state = dying(store, (changes) =>
    changes.some((each) => each.do === 'delete' && each.key.startsWith('event-index:')),
  );
  const dead = await start({ store: state.own });
  await dead.subscribe('ann', params());
  await dead.unsubscribe('ann', params()).catch(() => undefined);
  expect(state.isDead).toBe(true);
  const world = await start({ store });
  await until('nothing is left', async () => (await store.page('event-sub')).length === 0);
  for (const kind of ['event-host', 'event-index:', 'event-progress:', 'event-news:'])
    expect(await store.page(kind), kind).toEqual([]);
  expect(await world.unsubscribe('ann', params())).toEqual({});
});

test('a process that was paused writes nothing more, and its events are not delivered twice under two ids', async () => {
  const store = memoryStore();
  const first = await start({ store });
  await first.subscribe('ann', params());
  const waiting: (() => void)[] = [];
  receiver.answer = (message, response) => waiting.push(() => accept(message, response));
  await first.emit({}, 'e1');
  await until('e1 is under way', () => waiting.length === 1);
  // Its lease ends, as if it had been paused: another process takes the subscription over.
  const [entry] = await store.page('event-sub:');
  const key = String(entry?.key.slice('event-sub:'.length));
  const { delivery: queue } = await webhookQueues('tickets');
  await store.write([{ do: 'dequeue', queue, key }]);
  await store.write([{ do: 'enqueue', queue, key }]);
  const second = await start({ store });
  await until('e1 was sent again', () => waiting.length === 2);
  receiver.answer = accept;
  for (const reply of waiting) reply();
  await second.emit({}, 'e2');
  await until('e2 has arrived', () => idsOf().includes('e2'));
  expect(idsOf()).toEqual(['e1', 'e1', 'e2']);
});

test('a receiver that never replies slows only itself', async () => {
  const world = await start();
  const slow = Array.from({ length: 40 }, (_, at) => `/slow${at}`);
  receiver.answer = accept;
  const other = await startReceiver();
  const open = await startWorld({
    store: world.store,
    options: { privateHosts: [receiver.origin, other.origin] },
  });
  worlds.push(open);
  await world.close(0);
  // A host gets at most five challenges at the same time.
  for (const path of slow) await open.subscribe('ann', params(path));
  await open.subscribe('bob', { name: 'ticket', delivery: { url: other.url(), secret: secretOf(2) } });
  receiver.answer = () => undefined;
  const sentAt = performance.now();
  for (let at = 0; at < 5; at++) await open.emit({}, `e${at}`);
  await until('the other one has all', () => other.events().length === 5);
  expect(performance.now() - sentAt).toBeLessThan(10_000);
  await open.close(0);
  await other.close();
});
