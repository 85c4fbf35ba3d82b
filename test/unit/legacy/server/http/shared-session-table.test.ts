import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { sessionIds } from '../../../../../src/legacy/server/http/session-id.js';
import { type LiveSession, SessionTable } from '../../../../../src/legacy/server/http/session-table.js';
import { SessionDirectory } from '../../../../../src/legacy/server/shared/session-directory.js';
import type { Dispatch } from '../../../../../src/protocol/call.js';
import { memoryBus } from '../../../../../src/state/bus.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import type { Store } from '../../../../../src/state/store.js';
import { until } from '../../../../support/until.js';

const URI = 'doc:///one';
const ids = sessionIds({ secrets: ['a secret that is long enough for a test'], maxAgeMs: 3_600_000 });
const handshake = {
  revision: '2025-11-25',
  client: { name: 'test', version: '1' },
  capabilities: {},
} as const;

let store: Store;
let bus: ReturnType<typeof memoryBus>;
let id: string;

beforeEach(async () => {
  store = memoryStore();
  bus = memoryBus();
  id = await ids.issue(handshake, '');
});

/** The sessions of a process, with a store that fails while `fault` says so. */
function openTable() {
  const fault: { get?: 'fails'; write?: 'reply lost' } = {};
  const faulty: Store = {
    ...store,
    get: async (key) => {
      if (fault.get) throw new Error('The store is away.');
      return store.get(key);
    },
    write: async (changes, options) => {
      const written = await store.write(changes, options);
      if (fault.write) throw new Error('The reply was lost.');
      return written;
    },
  };
  const directory = new SessionDirectory({ store: faulty, bus: () => bus, warn: () => undefined });
  /** The subscriptions that the server got. */
  const subscriptions: unknown[] = [];
  const dispatch: Dispatch = ({ params }) => {
    subscriptions.push(params?.['notifications']);
    return new Promise(() => undefined);
  };
  const table = new SessionTable({ ids, dispatch, directory, maxSessions: 10, idleMs: 60_000 });
  onTestFinished(() => table.close());
  return { table, fault, subscriptions };
}

async function found(table: SessionTable): Promise<LiveSession> {
  const live = await table.find(id, '');
  if (live === undefined) throw new Error('The session is unknown.');
  return live;
}

describe('a session of several processes', () => {
  test('that was ended elsewhere is unknown, although the clock was set back', async () => {
    const { table } = openTable();
    const live = await found(table);
    await store.write([{ do: 'put', key: `session:${live.tag}`, value: { ended: true }, ttlMs: 60_000 }]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await until('the session is unknown', async () => (await table.find(id, '')) === undefined);
  });

  test('is looked up again if the store was away when its stream was opened', async () => {
    const { table, fault, subscriptions } = openTable();
    const live = await found(table);
    // By a process that could tell nobody.
    const silent = new SessionDirectory({ store, bus: () => undefined, warn: () => undefined });
    await silent.remember(live, { subscribe: URI });
    fault.get = 'fails';
    live.checkedAt = Number.NEGATIVE_INFINITY;
    const again = await found(table);
    expect(again).toBe(live);
    again.getStream = { end: () => undefined };
    again.session.attach({ notify: () => undefined, caller: {}, afterGap: false });
    delete fault.get;
    await until('the subscription is known', () => subscriptions.length > 1);
    expect(subscriptions.at(-1)).toMatchObject({ resourceSubscriptions: [URI] });
  });

  test('ends its streams elsewhere, although the reply of the store to DELETE was lost', async () => {
    const [one, two] = [openTable(), openTable()];
    const [here, there] = [await found(one.table), await found(two.table)];
    let hasEnded = false;
    there.getStream = {
      end: () => {
        hasEnded = true;
      },
    };
    one.fault.write = 'reply lost';
    await expect(one.table.end(here)).rejects.toThrow('Send DELETE again');
    await until('the stream has ended', () => hasEnded);
  });
});
