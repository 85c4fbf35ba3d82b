import { createServer, inProcess } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { audit } from 'fullmcp/middleware';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryBus } from '../../../src/state/bus.js';
import type { Cluster } from '../../../src/state/cluster.js';
import { memoryEventLog } from '../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import { until } from '../../support/until.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Probed {
  /** The status of `/ready`, and its body. */
  readonly ready: () => Promise<readonly [number, unknown]>;
  readonly close: () => Promise<void>;
  readonly logged: (readonly [level: string, message: string, detail?: unknown])[];
}

function probed(ping?: Cluster['ping']): Probed {
  const logged: [string, string, unknown][] = [];
  const cluster = ping && {
    store: memoryStore(),
    bus: memoryBus(),
    eventLog: memoryEventLog(),
    start: async () => [],
    close: async () => undefined,
    ping,
  };
  const server = createServer({
    name: 'probed',
    version: '1.0.0',
    logger: (level, message, detail) => void logged.push([level, message, detail]),
    ...(cluster && { cluster }),
  });
  const handler = createHandler(server);
  return {
    async ready() {
      const response = await handler(new Request('http://localhost/ready'));
      return [response.status, await response.json()];
    },
    close: () => handler.close(),
    logged,
  };
}

const READY = [200, { status: 'ready' }];
const UNAVAILABLE = [503, { status: 'unavailable' }];

test('a server without a cluster is ready', async () => {
  expect(await probed().ready()).toEqual(READY);
});

test('readiness turns with the engine, and each turn is logged once', async () => {
  let failure: Error | undefined;
  const { ready, logged } = probed(async () => {
    if (failure !== undefined) throw failure;
  });
  expect(await ready()).toEqual(READY);
  failure = new Error('Postgres at db:5432 failed');
  for (const _ of [1, 2]) {
    vi.advanceTimersByTime(500);
    expect(await ready()).toEqual(UNAVAILABLE);
  }
  expect(logged).toEqual([['error', expect.stringContaining('/ready replies with 503'), failure]]);
  failure = undefined;
  vi.advanceTimersByTime(500);
  expect(await ready()).toEqual(READY);
  expect(logged.slice(1)).toEqual([['info', expect.stringContaining('ready again'), undefined]]);
});

test('an engine that never responds does not hold up the reply, and is asked once however many probes there are', async () => {
  const ping = vi.fn(() => new Promise<void>(() => undefined));
  const { ready } = probed(ping);
  const replies = Promise.all(Array.from({ length: 100 }, () => ready()));
  await vi.advanceTimersByTimeAsync(1000);
  expect(new Set((await replies).map(([status]) => status))).toEqual(new Set([503]));
  expect(ping).toHaveBeenCalledTimes(1);
  expect(await ready()).toEqual(UNAVAILABLE);
  expect(ping).toHaveBeenCalledTimes(1);
});

test('a ping that fails after its time is over is not an unhandled rejection', async () => {
  let fail: (error: Error) => void = () => undefined;
  const { ready } = probed(
    () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
  );
  const reply = ready();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await reply).toEqual(UNAVAILABLE);
  fail(new Error('late'));
  await vi.advanceTimersByTimeAsync(1);
});

test('a server that refuses calls because it cannot write its audit log is not ready until it can, without any call', async () => {
  let isFull = true;
  const server = createServer({
    name: 'audited',
    version: '1.0.0',
    logger: () => undefined,
    use: [
      audit({
        to: () => {
          if (isFull) throw new Error('No space left on device');
        },
      }),
    ],
  });
  const handler = createHandler(server);
  const ready = async (): Promise<number> => (await handler(new Request('http://localhost/ready'))).status;
  expect(await ready()).toBe(200);
  vi.useRealTimers();
  await expect(inProcess(server)('tools/list')).rejects.toThrow('audit log');
  await until('the server is not ready', async () => (await ready()) === 503);
  isFull = false;
  await until('the server is ready again', async () => (await ready()) === 200);
});

test('a server that shuts down says so without asking the engine', async () => {
  const ping = vi.fn(async () => undefined);
  const { ready, close } = probed(ping);
  await close();
  expect(await ready()).toEqual([503, { status: 'draining' }]);
  expect(ping).not.toHaveBeenCalled();
});
