import { afterEach, describe, expect, test, vi } from 'vitest';
import { ResultCache } from '../../../../src/client/model/result-cache.js';
import { createServer, type Server } from '../../../../src/index.js';
import type { Call, Dispatch } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { until } from '../../../support/until.js';

afterEach(() => void vi.useRealTimers());

function countRequests(
  server: Server,
  change?: (call: Call) => object,
): { dispatch: Dispatch; requests: (method: string) => number } {
  const methods: string[] = [];
  return {
    dispatch: async (call) => {
      methods.push(call.method);
      const outcome = await server.dispatch(call);
      return { ...outcome, ...change?.(call) };
    },
    requests: (method) => methods.filter((one) => one === method).length,
  };
}

function books(): Server {
  const server = createServer({ name: 'books', version: '1', changes: true });
  server.tool('t', {}, () => 'x');
  server.resource('book://one', {}, () => 'once upon a time');
  return server as Server;
}

const fresh = { ttlMs: 60_000, cacheScope: 'private' };

describe('the result cache', () => {
  test('keeps lists and resources that the server lets it keep, and does not keep pings', async () => {
    const server = countRequests(books(), () => fresh);
    await using client = await inProcessClient(server);
    await client.tools().all();
    await client.tools().all();
    await client.readResource('book://one');
    await client.readResource('book://one');
    expect(server.requests('tools/list')).toBe(1);
    expect(server.requests('resources/read')).toBe(1);
    await client.ping();
    await client.ping();
    // One of the calls opened the connection.
    expect(server.requests('server/discover')).toBe(3);
  });

  test('keeps a result for its ttlMs, and no longer', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    const server = countRequests(books(), () => fresh);
    await using client = await inProcessClient(server);
    await client.tools().all();
    vi.advanceTimersByTime(fresh.ttlMs - 1);
    await client.tools().all();
    expect(server.requests('tools/list')).toBe(1);
    vi.advanceTimersByTime(1);
    await client.tools().all();
    expect(server.requests('tools/list')).toBe(2);
  });

  test('keeps no result whose ttlMs is missing or not positive, and none if it is disabled', async () => {
    for (const ttlMs of [undefined, 0, -1, Number.NaN, '5']) {
      const server = countRequests(books(), () => ({ ttlMs }));
      await using client = await inProcessClient(server);
      await client.tools().all();
      await client.tools().all();
      expect(server.requests('tools/list')).toBe(2);
    }
    const server = countRequests(books(), () => fresh);
    await using client = await inProcessClient(server, { cache: false });
    await client.tools().all();
    await client.tools().all();
    expect(server.requests('tools/list')).toBe(2);
  });

  test('keeps a result until a notification invalidates it', async () => {
    const inner = books();
    const server = countRequests(inner, () => fresh);
    await using client = await inProcessClient(server);
    await using changes = await client.subscribe({ tools: true, uris: ['book://one'] });
    expect(changes.accepted).toEqual({ tools: true, uris: ['book://one'] });
    await client.tools().all();
    await client.readResource('book://one');
    inner.changed.tools();
    inner.changed.resource('book://one');
    for await (const change of changes) if (change.kind === 'resource') break;
    await client.tools().all();
    await client.readResource('book://one');
    expect(server.requests('tools/list')).toBe(2);
    expect(server.requests('resources/read')).toBe(2);
  });

  test('does not keep a result that was in flight during a change', async () => {
    const inner = books();
    let release: (() => void) | undefined;
    let requests = 0;
    const slow: Dispatch = async (call) => {
      const outcome = await inner.dispatch(call);
      if (call.method !== 'tools/list') return outcome;
      if (requests++ === 0)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return { ...outcome, ...fresh };
    };
    await using client = await inProcessClient({ dispatch: slow });
    await using changes = await client.subscribe({ tools: true });
    const first = client.tools().all();
    await until('the list is under way', () => release !== undefined);
    inner.changed.tools();
    for await (const _ of changes) break;
    release?.();
    await first;
    await client.tools().all();
    expect(requests).toBe(2);
  });

  test('keeps private results for their client, and public ones for all that share the cache', async () => {
    const cache = new ResultCache();
    for (const [cacheScope, times] of [
      ['private', 2],
      ['public', 1],
    ] as const) {
      const server = countRequests(books(), () => ({ ttlMs: 60_000, cacheScope }));
      await using one = await inProcessClient(server, { cache });
      await using other = await inProcessClient(server, { cache });
      await one.tools().all();
      await other.tools().all();
      expect(server.requests('tools/list')).toBe(times);
    }
  });

  test('drops the oldest result when it has too many', async () => {
    const server = createServer({ name: 'large', version: '1' });
    server.resource('r://{id}', {}, () => 'x'.repeat(1000));
    const spied = countRequests(server as Server, () => fresh);
    await using client = await inProcessClient(spied, {
      cache: new ResultCache({ maxEntries: 2, maxBytes: 100_000 }),
    });
    for (const uri of ['r://1', 'r://2', 'r://3', 'r://3', 'r://1']) await client.readResource(uri);
    expect(spied.requests('resources/read')).toBe(4);
  });

  test('does not keep a result that is larger than its limit', async () => {
    const server = countRequests(books(), () => fresh);
    await using client = await inProcessClient(server, { cache: new ResultCache({ maxBytes: 10 }) });
    await client.readResource('book://one');
    await client.readResource('book://one');
    expect(server.requests('resources/read')).toBe(2);
  });
});
