import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { JsonObject, RequestMessage } from '../../../../../src/jsonrpc/message.js';
import type { SessionRequest } from '../../../../../src/legacy/server/forward.js';
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
  const fault: {
    get?: 'fails' | Promise<void>;
    write?: 'reply lost' | Promise<void>;
    replies: number;
    failures: number;
  } = { replies: 0, failures: 0 };
  const faulty: Store = {
    ...store,
    get: async (key) => {
      if (fault.get === 'fails') {
        fault.failures++;
        throw new Error('The store is away.');
      }
      const entry = await store.get(key);
      await fault.get;
      fault.replies++;
      return entry;
    },
    write: async (changes, options) => {
      if (fault.write !== 'reply lost') await fault.write;
      const written = await store.write(changes, options);
      if (fault.write === 'reply lost') throw new Error('The reply was lost.');
      return written;
    },
  };
  const directory = new SessionDirectory({ store: faulty, bus: () => bus, warn: () => undefined });
  /** The subscriptions that the server got. */
  const subscriptions: unknown[] = [];
  const dispatch: Dispatch = ({ params, notify }) => {
    const notifications = params?.['notifications'] as JsonObject;
    subscriptions.push(notifications);
    notify('notifications/subscriptions/acknowledged', { notifications });
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

/** Gives the session a stream. Returns the methods of the notifications on it. */
function attach(live: LiveSession): readonly string[] {
  const heard: string[] = [];
  live.getStream = { end: () => undefined };
  live.session.attach({ notify: (method) => void heard.push(method), caller: {}, afterGap: false });
  return heard;
}

/** Subscribes in a process that can tell nobody. */
async function subscribeElsewhere(live: LiveSession): Promise<void> {
  const silent = new SessionDirectory({ store, bus: () => undefined, warn: () => undefined });
  await silent.remember(live, { subscribe: URI });
}

function request(method: string, params: JsonObject): RequestMessage {
  return { kind: 'request', id: 1, method, params };
}

/** A server that announces changes of resources. */
const served = {
  forward: async () => ({ resultType: 'complete', capabilities: { resources: { subscribe: true } } }),
} as unknown as SessionRequest;

describe('a session of several processes', () => {
  test('that was ended elsewhere is unknown, although the clock was set back', async () => {
    const { table } = openTable();
    const live = await found(table);
    await store.write([{ do: 'put', key: `session:${live.tag}`, value: { ended: true }, ttlMs: 60_000 }]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await until('the session is unknown', async () => (await table.find(id, '')) === undefined);
  });

  test('that was ended elsewhere is ended here, although nobody was told and its client only reads a stream', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { table } = openTable();
    const live = await found(table);
    attach(live);
    await store.write([{ do: 'put', key: `session:${live.tag}`, value: { ended: true }, ttlMs: 600_000 }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(live.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(120_000);
    await until('the session is over', () => live.isOver);
  });

  test('that a request finds in the store, just before two others have stored its end, is over for that request too', async () => {
    const { table, fault } = openTable();
    const live = await found(table);
    let letThrough = (): void => undefined;
    fault.write = new Promise((resolve) => {
      letThrough = resolve;
    });
    const ends = [table.end(live)];
    const again = await found(table);
    ends.push(table.end(live));
    letThrough();
    await Promise.all(ends);
    expect(again).not.toBe(live);
    expect(again.isOver).toBe(true);
    expect(await table.find(id, '')).toBeUndefined();
  });

  test('is looked up again if the store was away when its stream was opened', async () => {
    const { table, fault, subscriptions } = openTable();
    const live = await found(table);
    await subscribeElsewhere(live);
    fault.get = 'fails';
    live.checkedAt = Number.NEGATIVE_INFINITY;
    const again = await found(table);
    expect(again).toBe(live);
    attach(again);
    delete fault.get;
    await until('the subscription is known', () => subscriptions.length > 1);
    expect(subscriptions.at(-1)).toMatchObject({ resourceSubscriptions: [URI] });
  });

  test('keeps a subscription that is made while the store is read', async () => {
    const { table, fault, subscriptions } = openTable();
    const live = await found(table);
    attach(live);
    live.checkedAt = Number.NEGATIVE_INFINITY;
    let letThrough = (): void => undefined;
    fault.get = new Promise((resolve) => {
      letThrough = resolve;
    });
    const finding = found(table);
    await until('the store is being read', () => live.checkedAt > 0);
    const held = fault.get;
    delete fault.get;
    await live.session.respond(request('resources/subscribe', { uri: URI }), served);
    letThrough();
    await held;
    await finding;
    expect(subscriptions.at(-1)).toMatchObject({ resourceSubscriptions: [URI] });
  });

  test('keeps all of many subscriptions that are made at the same time', async () => {
    const { table, subscriptions } = openTable();
    const live = await found(table);
    attach(live);
    const uris = Array.from({ length: 50 }, (_, n) => `doc:///${n}`);
    await Promise.all(
      uris.map((uri) => live.session.respond(request('resources/subscribe', { uri }), served)),
    );
    expect((subscriptions.at(-1) as JsonObject)['resourceSubscriptions']).toEqual(uris);
    const elsewhere = new SessionDirectory({ store, bus: () => undefined, warn: () => undefined });
    expect((await elsewhere.recall(live))?.uris).toEqual(uris);
  });

  test('reports a resource that was subscribed to elsewhere when the client changes something else', async () => {
    const { table } = openTable();
    const live = await found(table);
    const heard = attach(live);
    await subscribeElsewhere(live);
    await live.session.respond(request('logging/setLevel', { level: 'error' }), served);
    await until('the resource is reported', () => heard.includes('notifications/resources/updated'));
  });

  test('says that others could not be told of a change, and tells them when the client repeats it', async () => {
    const [one, two] = [openTable(), openTable()];
    const [here, there] = [await found(one.table), await found(two.table)];
    attach(there);
    const { publish } = bus;
    bus.publish = () => Promise.reject(new Error('The bus is away.'));
    const subscribe = (): Promise<string> =>
      here.session.respond(request('resources/subscribe', { uri: URI }), served);
    await expect(subscribe()).rejects.toThrow('not all processes could be told');
    expect(two.subscriptions).not.toContainEqual(expect.objectContaining({ resourceSubscriptions: [URI] }));
    bus.publish = publish;
    await subscribe();
    await until('the other process knows', () => two.subscriptions.length > 1);
    expect(two.subscriptions.at(-1)).toMatchObject({ resourceSubscriptions: [URI] });
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

describe('a session whose store is away', () => {
  test('is served by what its id says in a process that does not know it, until the store is back', async () => {
    const elsewhere = openTable();
    await subscribeElsewhere(await found(elsewhere.table));
    const { table, fault, subscriptions } = openTable();
    fault.get = 'fails';
    const live = await found(table);
    expect(live.session.handshake).toMatchObject(handshake);
    delete fault.get;
    await until('the subscription is known', async () => (await found(table)).hasFacts);
    expect(await found(table)).toBe(live);
    attach(live);
    await until('the stream has the subscription', () => subscriptions.length > 0);
    expect(subscriptions.at(-1)).toMatchObject({ resourceSubscriptions: [URI] });
  });

  test('gets no stream in a process that does not know its subscriptions, also after a call was served there', async () => {
    const { table, fault } = openTable();
    fault.get = 'fails';
    const refusal = { code: 'overloaded', message: expect.stringContaining('cannot be looked up now') };
    await expect(table.find(id, '', { needsFacts: true })).rejects.toMatchObject(refusal);
    await found(table);
    await expect(table.find(id, '', { needsFacts: true })).rejects.toMatchObject(refusal);
    delete fault.get;
    expect((await table.find(id, '', { needsFacts: true }))?.hasFacts).toBe(true);
  });

  test('is still unknown to another caller, and with an id that was changed', async () => {
    const { table, fault } = openTable();
    fault.get = 'fails';
    expect(await table.find(id, 'somebody else')).toBeUndefined();
    expect(await table.find(`x${id}`, '')).toBeUndefined();
  });

  test('is unknown if this process has heard that it has ended, and ends when the store is back otherwise', async () => {
    const [heard, unheard] = [openTable(), openTable()];
    const { tag, issuedAt, expiresAt } = await found(heard.table);
    for (const { fault } of [heard, unheard]) fault.get = 'fails';
    const live = await found(unheard.table);
    await store.write([{ do: 'put', key: `session:${tag}`, value: { ended: true }, ttlMs: 60_000 }]);
    const silent = new SessionDirectory({ store, bus: () => bus, warn: () => undefined });
    await silent.end({ tag, issuedAt, expiresAt });
    expect(await heard.table.find(id, '')).toBeUndefined();
    // Nor is the session served by its id alone when the process knows that the store is away, and does not ask it.
    const other = await ids.issue(handshake, '');
    expect(await heard.table.find(other, '')).toMatchObject({ hasFacts: false });
    expect(await heard.table.find(id, '')).toBeUndefined();
    const { replies } = unheard.fault;
    delete unheard.fault.get;
    // The process looks by itself whether the store is back, so that no request is served that should not be.
    await until('the process knows that the store is back', () => unheard.fault.replies > replies);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await unheard.table.find(id, '')).toBeUndefined();
    expect(live.isOver).toBe(true);
  });

  test('makes a request wait only once for a store that never replies', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { table, fault } = openTable();
    const live = await found(table);
    fault.get = new Promise(() => undefined);
    vi.advanceTimersByTime(1000);
    let waits = true;
    const first = found(table).finally(() => {
      waits = false;
    });
    await vi.advanceTimersByTimeAsync(1999);
    expect(waits).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(await first).toBe(live);
    for (let at = 0; at < 5; at++) {
      vi.advanceTimersByTime(1000);
      // No time passes meanwhile.
      expect(await found(table)).toBe(live);
    }
    const other = await ids.issue(handshake, '');
    expect(await table.find(other, '')).toMatchObject({ id: other, hasFacts: false });
  });

  test('is looked up once at a time while the store is away, however often its client opens its stream', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { table, fault } = openTable();
    const live = await found(table);
    attach(live);
    fault.get = 'fails';
    await vi.advanceTimersByTimeAsync(1000);
    expect(await table.find(id, '', { needsFacts: true })).toBe(live);
    await vi.advanceTimersByTimeAsync(1500);
    for (let at = 0; at < 50; at++) expect(await table.find(id, '', { needsFacts: true })).toBe(live);
    const { failures } = fault;
    await vi.advanceTimersByTimeAsync(10_000);
    // One look at the session every two seconds, and one at the store every second.
    expect(fault.failures - failures).toBeLessThanOrEqual(15);
  });
});
