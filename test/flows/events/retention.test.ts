import { createServer, event, inProcess } from 'fullmcp';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../support/until.js';

// The option `eventRetention`, as clients see it.

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function desk(eventRetention: { readonly forMs?: number; readonly maxEvents?: number }) {
  const server = createServer({
    name: 'desk',
    version: '1',
    eventRetention,
    events: { counted: event({ payload: { type: 'object' } }) },
  });
  closing.push(() => server.close());
  return { server, ask: inProcess(server) };
}

test('A client whose cursor is older than the events that are kept is told, and continues with the oldest', async () => {
  const { server, ask } = desk({ maxEvents: 1000 });
  const { cursor } = await ask('events/poll', { name: 'counted' });
  for (let n = 0; n < 3000; n += 500)
    await Promise.all(Array.from({ length: 500 }, (_, at) => server.emit('counted', { n: n + at })));
  const page = await ask('events/poll', { name: 'counted', cursor });
  expect(page).toMatchObject({ truncated: true, hasMore: true });
  const first = (page['events'] as { data: { n: number } }[])[0]?.data.n as number;
  expect(first).toBeGreaterThanOrEqual(2000);
  expect(first).toBeLessThan(3000);
  const next = await ask('events/poll', { name: 'counted', cursor: page['cursor'] });
  expect(next['truncated']).toBe(false);

  const said: { method: string; params: Record<string, unknown> }[] = [];
  const controller = new AbortController();
  const streaming = server.dispatch({
    ...{ id: 1, method: 'events/stream', params: { name: 'counted', cursor } },
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
    signal: controller.signal,
    notify: (method, params) => void said.push({ method, params: params as Record<string, unknown> }),
  });
  await until('the stream has events', () => said.some(({ method }) => method.endsWith('events/event')));
  controller.abort();
  await streaming;
  const gap = said.findIndex(
    ({ method, params }) => method.endsWith('active') && params['truncated'] === true,
  );
  expect(gap).toBeGreaterThanOrEqual(0);
  expect(gap).toBeLessThan(said.findIndex(({ method }) => method.endsWith('events/event')));
});

test('Limits that are wrong are named when the server is made', () => {
  for (const [options, message] of [
    [{ forMs: 1000 }, /"eventRetention.forMs" must be a number of milliseconds from 60000 to 2592000000/],
    [{ forMs: 31 * 86_400_000 }, /from 60000 to 2592000000/],
    [{ maxEvents: 10 }, /"eventRetention.maxEvents" must be an integer, 1000 or more/],
    [{ max: 10 }, /"eventRetention.max" is unknown/],
  ] as const)
    expect(() => createServer({ name: 'a', version: '1', eventRetention: options as object })).toThrow(
      message,
    );
});
