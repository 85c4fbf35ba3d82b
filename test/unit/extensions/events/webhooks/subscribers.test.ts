import { describe, expect, test, vi } from 'vitest';
import { placeOfWork, typePlace } from '../../../../../src/extensions/events/webhooks/stored/places.js';
import type { SubscriptionHead } from '../../../../../src/extensions/events/webhooks/stored/subscription.js';
import {
  addToIndex,
  removeFromIndex,
  Subscribers,
} from '../../../../../src/extensions/events/webhooks/subscribers.js';
import type { WebhookType } from '../../../../../src/extensions/events/webhooks/types.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import type { Store } from '../../../../../src/state/store.js';
import { seeded } from '../../../../../src/testing/faults/seeded.js';

const GROUP = 'tickets';
const type = {
  name: 'ticket',
  history: { group: GROUP },
  read: (args: unknown) => args,
} as unknown as WebhookType;

function add(store: Store, id: string, args: Record<string, string> = {}): Promise<void> {
  const head = { args, auth: { subject: 'ann', scopes: [], claims: {} }, birth: id };
  return addToIndex(store, GROUP, {
    place: placeOfWork(`ann:${id}`),
    head: head as unknown as SubscriptionHead,
  });
}

function remove(store: Store, id: string): Promise<void> {
  return removeFromIndex(store, GROUP, { place: placeOfWork(`ann:${id}`), isOver: () => true });
}

/** Everything that a process knows, as JSON. */
async function known(subscribers: Subscribers): Promise<string> {
  const entries = [...(await subscribers.read())].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries);
}

/** The same, as a process reads it that knows nothing yet. */
function truth(store: Store): Promise<string> {
  return known(new Subscribers(store, type));
}

async function storeOf(count: number): Promise<Store> {
  const store = memoryStore();
  for (let n = 0; n < count; n++) await add(store, `sub-${n}`);
  return store;
}

describe('The subscribers that a process keeps in memory', () => {
  test('Only the subscribers that have changed are read again', async () => {
    const store = await storeOf(500);
    const subscribers = new Subscribers(store, type);
    await subscribers.read();
    await add(store, 'sub-7', { queue: 'even' });
    await add(store, 'new');
    await remove(store, 'sub-9');
    const [get, page] = [vi.spyOn(store, 'get'), vi.spyOn(store, 'page')];
    const after = await known(subscribers);
    const read = get.mock.calls.map(([key]) => key).filter((key) => key.startsWith(typePlace(GROUP).index));
    expect(read.map((key) => key.slice(typePlace(GROUP).index.length)).sort()).toEqual([
      'new',
      'sub-7',
      'sub-9',
    ]);
    expect(page).not.toHaveBeenCalled();
    expect(after).toBe(await truth(store));
    expect(after).toContain('even');
    expect(after).not.toContain('sub-9"');
  });

  test('A look at subscribers that have not changed reads one entry', async () => {
    const store = await storeOf(3);
    const subscribers = new Subscribers(store, type);
    await subscribers.read();
    const reads = [vi.spyOn(store, 'get'), vi.spyOn(store, 'page'), vi.spyOn(store, 'items')];
    await subscribers.read();
    expect(reads.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  });

  test('A process that has missed more changes than are listed reads all subscribers, and then only changes again', async () => {
    const store = await storeOf(10);
    const subscribers = new Subscribers(store, type);
    await subscribers.read();
    for (let n = 0; n < 2100; n++) await add(store, `sub-${n % 20}`, { queue: String(n) });
    expect(await store.items(typePlace(GROUP).changes)).toHaveLength(110);
    expect(await known(subscribers)).toBe(await truth(store));
    await remove(store, 'sub-3');
    const page = vi.spyOn(store, 'page');
    const after = await known(subscribers);
    expect(page).not.toHaveBeenCalled();
    expect(after).toBe(await truth(store));
  });

  test('The list of changes does not take the last room of a small store', async () => {
    const store = memoryStore({ maxBytes: 5000, kindShare: 1 });
    const subscribers = new Subscribers(store, type);
    for (let n = 0; n < 200; n++) await (n % 2 === 0 ? add(store, 'sub') : remove(store, 'sub'));
    await add(store, 'other');
    expect((await store.items(typePlace(GROUP).changes)).length).toBeLessThan(100);
    expect([...(await subscribers.read()).keys()]).toEqual(['other']);
  });

  test('Processes that read while subscribers come and go know the same in the end, for many orders', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const random = seeded(seed);
      const store = memoryStore();
      const change = async (): Promise<void> => {
        const id = `sub-${Math.floor(random() * 8)}`;
        await (random() < 0.6 ? add(store, id, { queue: String(random()) }) : remove(store, id));
      };
      // The list begins anew at any moment.
      const forget = (): Promise<unknown> => {
        const { changes: list, listed: key } = typePlace(GROUP);
        return store.write([
          { do: 'drop', list },
          { do: 'delete', key },
        ]);
      };
      const disturb = async (): Promise<void> => {
        while (random() < 0.3) await change();
        if (random() < 0.05) await forget();
      };
      const disturbed: Store = {
        ...store,
        get: (key) => disturb().then(() => store.get(key)),
        items: (list, range) => disturb().then(() => store.items(list, range)),
        page: (prefix, range) => disturb().then(() => store.page(prefix, range)),
      };
      const processes = Array.from({ length: 3 }, () => new Subscribers(disturbed, type));
      for (let round = 0; round < 10; round++) {
        const looking = processes.filter(() => random() < 0.6);
        await Promise.all(
          looking.flatMap((each) => (random() < 0.3 ? [each.read(), each.read()] : each.read())),
        );
      }
      const calm = await truth(store);
      for (const each of processes) {
        Object.assign(disturbed, store);
        expect(await known(each), `seed ${seed}`).toBe(calm);
      }
    }
  });
});
