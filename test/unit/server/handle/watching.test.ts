import { createServer, DefinitionError, inProcess, memoryBus, memoryStore, resource } from 'fullmcp';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../../support/until.js';

const base = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const read = (): string => 'x';
const onChange = (): void => undefined;

/** A server whose hooks write down what they get. */
function watched(
  events: string[],
  options: object = {},
  allow?: (auth: { subject: string } | undefined) => boolean,
) {
  return createServer({
    ...base,
    ...options,
    lifespan: async function* () {
      yield 'the state';
    },
    resources: {
      'x://{id}': resource({
        ...(allow && { allow: allow as never }),
        onSubscribe({ id }, { uri, changed, state }) {
          events.push(`start ${String(id)} ${uri} ${String(state)}`);
          changed.resource(uri);
        },
        onUnsubscribe: ({ id }) => void events.push(`stop ${String(id)}`),
        read,
      }),
      'plain://1': resource({ read }),
    },
  });
}

function subscribe(server: Parameters<typeof inProcess>[0], uris: string[], subject?: string) {
  const ending = new AbortController();
  const call = inProcess(server, subject === undefined ? {} : { caller: { subject } });
  const filter = { notifications: { resourceSubscriptions: uris } };
  const ended = call('subscriptions/listen', filter, { signal: ending.signal });
  ended.catch(() => undefined);
  return () => ending.abort();
}

describe('the hooks of a resource', () => {
  it('get the values of the template, the state, and a way to announce changes, on every wire and in every revision', async () => {
    const events: string[] = [];
    await everyWire(
      () => watched(events),
      async (client) => {
        events.length = 0;
        const changes: unknown[] = [];
        await client.subscribe('x://7', { onChange: (change) => changes.push(change) });
        await until('the client is told of the change', () => changes.length > 0);
        expect(events).toEqual(['start 7 x://7 the state']);
      },
    );
  });

  it.each([
    ['in-process', '2026-07-28'],
    ['http', '2026-07-28'],
    ['http', '2025-11-25'],
    ['stdio', '2025-06-18'],
  ] as const)('end with the subscription over %s in %s', async (over, revision) => {
    const events: string[] = [];
    const server = watched(events);
    await using client = await testClient(server, { over, revision } as object);
    const subscription = await client.subscribe('x://7', { onChange });
    await until('the watch starts', () => events.length === 1);
    const other = await client.subscribe('x://8', { onChange });
    await until('the second watch starts', () => events.length === 2);
    await subscription.close();
    await until('the first watch stops', () => events.includes('stop 7'));
    expect(events).toEqual(['start 7 x://7 the state', 'start 8 x://8 the state', 'stop 7']);
    await other.close();
    await until('the second watch stops', () => events.includes('stop 8'));
    await server.close();
    expect(events).toHaveLength(4);
  });

  it('make the server offer subscriptions', async () => {
    const { capabilities } = await inProcess(watched([]))('server/discover');
    expect(capabilities).toMatchObject({ resources: { subscribe: true } });
  });

  it('are not called for a caller that may not read the resource', async () => {
    const events: string[] = [];
    const server = watched(events, {}, (auth) => auth?.subject === 'ann');
    subscribe(server, ['x://1', 'x://2'], 'bob');
    subscribe(server, ['x://3', 'x://3', 'plain://1', 'unknown://1'], 'ann');
    await until('the watch of the other caller starts', () => events.length === 1);
    await server.close();
    expect(events).toEqual(['start 3 x://3 the state', 'stop 3']);
  });

  it('are called for a resource that is added to the running server', async () => {
    const server = createServer(base);
    const seen: string[] = [];
    server.resource('y://{id}', { onSubscribe: ({ id }) => void seen.push(id) }, read);
    subscribe(server, ['y://5']);
    await until('the watch starts', () => seen.length === 1);
    expect(seen).toEqual(['5']);
    await server.close();
  });

  it('run when the server shuts down, before its lifespan ends', async () => {
    const events: string[] = [];
    const server = createServer({
      ...base,
      lifespan: async function* () {
        yield 'state';
        events.push('closed');
      },
      resources: { 'x://1': resource({ onUnsubscribe: () => void events.push('stop'), read }) },
    });
    let isOpen = false;
    const call = inProcess(server);
    void call(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: ['x://1'] } },
      {
        onNotification: () => {
          isOpen = true;
        },
      },
    ).catch(() => undefined);
    await until('the subscription is open', () => isOpen);
    // The code that calls the hooks is loaded.
    await vi.dynamicImportSettled();
    await server.close();
    expect(events).toEqual(['stop', 'closed']);
  });

  it.each([['onSubscribe'], ['onUnsubscribe']])('must be functions: %s', (name) => {
    const wrong = { [name]: 'start', read } as never;
    expect(() => createServer({ ...base, resources: { 'x://1': resource(wrong) } })).toThrow(
      new DefinitionError([`resource "x://1": "${name}" must be a function`]),
    );
  });
});

describe('the hooks of servers that share a store and a bus', () => {
  it('are called once for the subscribers of all processes and eras', async () => {
    const events: string[] = [];
    const shared = { store: memoryStore(), bus: memoryBus() };
    const [a, b] = [watched(events, shared), watched(events, shared)];
    await using older = await testClient(a, { over: 'http', revision: '2025-11-25' } as object);
    await using newer = await testClient(b, { over: 'http', revision: '2026-07-28' } as object);
    const changes: unknown[] = [];
    const first = await older.subscribe('x://1', { onChange });
    await until('the watch starts', () => events.length === 1);
    const second = await newer.subscribe('x://1', { onChange: (change) => changes.push(change) });
    await until(
      'both processes are recorded',
      async () => (await shared.store.page('watcher:')).length === 2,
    );
    a.changed.resource('x://1');
    await until('the client of the other process is told of a change', () => changes.length > 0);
    await second.close();
    await until('one process is left', async () => (await shared.store.page('watcher:')).length === 1);
    expect(events).toEqual(['start 1 x://1 the state']);
    await first.close();
    await until('the watch stops', () => events.length === 2);
    expect(events[1]).toBe('stop 1');
    await Promise.all([a.close(), b.close()]);
  });

  it('leave nothing in the store if no definition has any', async () => {
    const store = memoryStore();
    const write = vi.spyOn(store, 'write');
    const server = createServer({
      ...base,
      store,
      bus: memoryBus(),
      resources: { 'x://1': resource({ read }) },
    });
    await using client = await testClient(server);
    const subscription = await client.subscribe('x://1', { onChange });
    await subscription.close();
    await server.close();
    expect(write).not.toHaveBeenCalled();
  });
});
