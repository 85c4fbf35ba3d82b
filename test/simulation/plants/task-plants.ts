// The planted bugs of tasks and idempotency keys.

import type { Lease, ListItem } from 'fullmcp';
import type { Invariant } from '../checks/invariants.js';
import { changing, forgetting, type Plant, putsStatus } from './plant.js';

/** A bug for each promise about tasks and keys. */
export const taskPlants = {
  'stale write': {
    bug: 'the store ignores leases',
    store: (store) => ({
      ...store,
      async write(changes, options) {
        const written = await store.write(changes, options);
        if (written.ok || written.refusedBy !== 'guard') return written;
        const unguarded = changes.filter((change) => change.do !== 'release');
        return unguarded.length === 0 ? { ok: true } : store.write(unguarded);
      },
    }),
  },
  'step without a lease': {
    bug: 'the store renews leases that are lost',
    store: (store) => ({
      ...store,
      async renew(leases, ms) {
        await store.renew(leases, ms);
        return leases;
      },
    }),
  },
  'lease granted twice': {
    bug: 'the store grants a lease twice',
    store(store, random) {
      const held = new Map<string, Lease>();
      return {
        ...store,
        async claim(queue, options) {
          const leases = await store.claim(queue, options);
          for (const lease of leases) held.set(lease.key, lease);
          const other = [...held.values()].find((lease) => lease.queue === queue);
          if (leases.length > 0 || other === undefined || random.chance(0.9)) return leases;
          held.delete(other.key);
          const renewed = await store.renew([other], options.ms);
          return renewed.map((lease) => ({ ...lease, attempt: lease.attempt + 1 }));
        },
      };
    },
  },
  'never ends': {
    bug: 'the store forgets to wake up a task that was answered',
    store: (store) =>
      changing(store, (changes) => {
        const isAnswer = changes.some((change) => change.do === 'append' && change.list.startsWith('inbox:'));
        return changes.filter((change) => !isAnswer || change.do !== 'enqueue');
      }),
  },
  'recorded step ran again': {
    bug: 'the store loses the results of steps',
    store: (store, random) =>
      forgetting(store, (changes) => {
        const [first] = changes;
        return first?.do === 'append' && first.value['s'] !== undefined && random.chance(0.3);
      }),
  },
  'task lost': {
    bug: 'the store loses new tasks',
    store: (store, random) => ({
      ...store,
      async write(changes, options) {
        const written = await store.write(changes, options);
        const created = changes.find((change) => change.do === 'put' && change.if === 'absent');
        if (created?.do === 'put' && putsStatus(created, 'working') && random.chance(0.2))
          await store.write([{ do: 'delete', key: created.key }]);
        return written;
      },
    }),
  },
  'step has another key': {
    bug: 'the store forgets who a journal belongs to',
    store: (store, random) => ({
      ...store,
      items: async (list, options) =>
        (await store.items(list, options)).map((item): ListItem => {
          const { j } = item.value as { j?: object };
          return j === undefined
            ? item
            : { ...item, value: { ...item.value, j: { ...j, r: String(random.next()) } } };
        }),
    }),
  },
  'answers mixed up': {
    bug: 'the store mixes up inboxes',
    store(store) {
      const responses = new Map<string, unknown>();
      return {
        ...store,
        items: async (list, options) =>
          (await store.items(list, options)).map((item): ListItem => {
            if (!list.startsWith('inbox:')) return item;
            const key = String(item.value['key']);
            const response = responses.get(key) ?? item.value['response'];
            responses.set(key, item.value['response']);
            return { ...item, value: { ...item.value, response } };
          }),
      };
    },
  },
  'step after cancellation': {
    bug: 'the store forgets cancellations',
    store: (store) =>
      forgetting(store, (changes) => changes.some((change) => putsStatus(change, 'cancelled'))),
  },
  'ended task changed': {
    bug: 'the store ignores versions, and is slow to cancel',
    store: (store) => ({
      ...store,
      async write(changes, options) {
        const [first, ...others] = changes;
        if (first?.do !== 'put' || !putsStatus(first, 'cancelled')) return store.write(changes, options);
        await new Promise((resolve) => setTimeout(resolve, 2000));
        const { if: _, ...put } = first;
        return store.write([put, ...others], options);
      },
    }),
  },
  'task failed': {
    bug: 'the store turns results into errors',
    store: (store, random) =>
      changing(store, (changes) =>
        changes.map((change) =>
          change.do === 'put' && putsStatus(change, 'completed') && random.chance(0.2)
            ? {
                ...change,
                value: { ...change.value, status: 'failed', error: { code: -32603, message: '' } },
              }
            : change,
        ),
      ),
  },
  'keyed call took effect twice': {
    bug: 'the store accepts a key that is taken',
    store: (store) => ({
      ...store,
      async write(changes, options) {
        const [first, second] = changes;
        if (first?.do !== 'put' || !first.key.startsWith('outcome:') || second?.do !== 'enqueue')
          return store.write(changes, options);
        await store.write([{ do: 'dequeue', queue: second.queue, key: second.key }]);
        const { if: _, ...put } = first;
        return store.write([put, second], options);
      },
    }),
  },
  'quota not returned': {
    bug: 'the store never counts down',
    store: (store) =>
      changing(store, (changes) => changes.filter((change) => change.do !== 'count' || change.by > 0)),
  },
  'left in the store': {
    bug: 'the store drops no lists',
    store: (store) => changing(store, (changes) => changes.filter((change) => change.do !== 'drop')),
  },
  'keyed task created twice': {
    bug: 'the store loses the outcomes of calls that created tasks',
    store: (store) =>
      changing(store, (changes) =>
        changes.map((change) =>
          change.do === 'put' && change.key.startsWith('outcome:') && isTask(change.value)
            ? { do: 'delete', key: change.key }
            : change,
        ),
      ),
  },
  'end not heard': { bug: 'the bus reports no gaps', from: 300, bus: 'no gaps' },
  'shutdown hangs': { bug: 'the bus never closes', bus: 'no end' },
  'unhandled error': { bug: 'the bus delivers broken messages', bus: 'broken messages' },
} satisfies Partial<Record<Invariant, Plant>>;

function isTask({ outcome }: Record<string, unknown>): boolean {
  return (outcome as { taskId?: unknown } | undefined)?.taskId !== undefined;
}
