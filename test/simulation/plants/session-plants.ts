// The planted bugs of sessions, of calls that ask, and of changes.

import type { Lease, StoreChange } from 'fullmcp';
import type { Invariant } from '../checks/invariants.js';
import { changing, type Plant } from './plant.js';

/** A bug for each promise about sessions, calls that ask, and changes. */
export const sessionPlants = {
  'step of a call ran again': {
    bug: 'the store takes each answer twice',
    store: (store) =>
      changing(store, (changes) =>
        changes.map((change) => (puts(change, 'asked:') ? unconditional(change) : change)),
      ),
  },
  'call failed': {
    bug: 'the store takes calls away from processes that run them',
    from: 680,
    store(store) {
      const held = new Map<string, Lease>();
      return {
        ...store,
        async write(changes, options) {
          const written = await store.write(changes, options);
          if (written.ok && written.lease?.queue.startsWith('call:'))
            held.set(written.lease.key, written.lease);
          return written;
        },
        async claim(queue, options) {
          const leases = await store.claim(queue, options);
          const [taken] = queue.startsWith('call:') ? held.values() : [];
          if (taken === undefined) return leases;
          held.delete(taken.key);
          return [...leases, ...(await store.renew([taken], options.ms))];
        },
      };
    },
  },
  'served to another caller': {
    bug: 'the store looks for questions in all sessions',
    store: (store) => ({
      ...store,
      async get(key) {
        const entry = await store.get(key);
        if (entry !== undefined || !key.startsWith('asked:')) return entry;
        const all = await store.page('asked:', { limit: 1000 });
        return all.find((other) => other.key.endsWith(key.slice(key.lastIndexOf(':'))));
      },
    }),
  },
  'session lost': {
    bug: 'the store ends sessions by itself',
    store: (store, random) => ({
      ...store,
      async get(key) {
        const isEnded = key.startsWith('session:') && random.chance(0.1);
        return isEnded
          ? { key, value: { ended: true }, version: '1', expiresInMs: undefined }
          : store.get(key);
      },
    }),
  },
  'session not ended': {
    bug: 'the store forgets that sessions have ended, and no process hears of it',
    bus: 'no sessions',
    store: (store) => changing(store, (changes) => changes.filter((change) => !puts(change, 'session:'))),
  },
  'log level forgotten': {
    bug: 'the store forgets log levels',
    from: 170,
    store: (store) =>
      changing(store, (changes) =>
        changes.map((change) =>
          puts(change, 'session:') && change.value['logLevel'] !== undefined
            ? { ...change, value: { ...change.value, logLevel: 'debug' } }
            : change,
        ),
      ),
  },
  'event lost': {
    bug: 'the event log loses events',
    log: (log, random) => ({
      ...log,
      append: (stream, data, options) =>
        data.includes('notifications/message') && random.chance(0.3)
          ? Promise.resolve(`${stream}-0`)
          : log.append(stream, data, options),
    }),
  },
  'change not heard': { bug: 'the bus carries no changes', bus: 'no changes' },
} satisfies Partial<Record<Invariant, Plant>>;

function puts(change: StoreChange, prefix: string): change is Extract<StoreChange, { do: 'put' }> {
  return change.do === 'put' && change.key.startsWith(prefix);
}

function unconditional({ if: _, ...put }: Extract<StoreChange, { do: 'put' }>): StoreChange {
  return put;
}
