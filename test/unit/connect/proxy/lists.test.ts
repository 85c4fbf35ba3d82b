import type { Call, Outcome } from 'fullmcp';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serve } from '../../../../src/node.js';
import { type ProxyOptions, proxy } from '../../../../src/proxy.js';
import { until } from '../../../support/until.js';

/** A server of today that counts the lists it is asked for. */
function upstream(list: object, capabilities: object = { tools: { listChanged: true } }) {
  const asked: string[] = [];
  const listeners = new Set<Call>();
  const dispatch = async (call: Call): Promise<Outcome> => {
    const { method, params } = call;
    if (method === 'server/discover')
      return {
        ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private' },
        capabilities: capabilities as never,
      };
    if (method === 'subscriptions/listen') {
      listeners.add(call);
      const notifications = params['notifications'] as object;
      call.notify('notifications/subscriptions/acknowledged', { notifications } as never);
      return new Promise((_, reject) =>
        call.signal.addEventListener('abort', () => reject(call.signal.reason)),
      );
    }
    asked.push(
      String((params['_meta'] as Record<string, unknown> | undefined)?.['who'] ?? call.auth?.subject),
    );
    const tools = [{ name: `tool${asked.length}`, inputSchema: { type: 'object' } }];
    return { resultType: 'complete', tools, ...list } as never;
  };
  const announce = (): void => {
    for (const { notify } of listeners) notify('notifications/tools/list_changed', {});
  };
  return { dispatch, asked, announce };
}

async function namesThrough(target: Parameters<typeof proxy>[0], options: ProxyOptions = {}) {
  const between = proxy(target, { logger: () => undefined, ...options });
  onTestFinished(() => between.close());
  const as = async (subject?: string) => {
    const client = await connect(between, {
      cache: false,
      ...(subject !== undefined && { caller: { subject } }),
    });
    onTestFinished(() => client.close());
    const names = async () => (await client.tools().all()).map(({ name }) => name);
    return Object.assign(names, { client });
  };
  return { between, as };
}

test('a list is kept for as long as the server allows, and has only the time that is left', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const up = upstream({ ttlMs: 10_000, cacheScope: 'private' });
  const { as, between } = await namesThrough(up);
  const names = await as();
  expect(await names()).toEqual(['tool1']);
  vi.advanceTimersByTime(4000);
  expect(await names()).toEqual(['tool1']);
  const again = await connect(between, { cache: false });
  onTestFinished(() => again.close());
  const { ttlMs } = (await again.request('tools/list', {})) as { ttlMs?: number };
  expect(ttlMs).toBe(6000);
  vi.advanceTimersByTime(6001);
  expect(await names()).toEqual(['tool2']);
});

test('a list without a time is never kept', async () => {
  const up = upstream({ ttlMs: 0, cacheScope: 'public' });
  const names = await (await namesThrough(up)).as();
  expect([await names(), await names()]).toEqual([['tool1'], ['tool2']]);
});

test('a list with removed tools is not kept for those who ask for the list', async () => {
  const { as } = await namesThrough(upstream({ ttlMs: 60_000, cacheScope: 'public' }));
  const names = await as();
  const removed = () => names.client.request('tools/list', { _meta: { 'fullmcp/removed': true } });
  expect(await removed()).toMatchObject({ tools: [{ name: 'tool1' }] });
  expect(await names()).toEqual(['tool2']);
  expect(await removed()).toMatchObject({ tools: [{ name: 'tool1' }] });
});

test('a private list is kept for callers with the same credentials only, a public one for all', async () => {
  const identity: ProxyOptions['identity'] = ({ auth }) => auth && { key: auth.subject, caller: auth };
  const own = await namesThrough(upstream({ ttlMs: 60_000, cacheScope: 'private' }), { identity });
  const [ada, ben] = [await own.as('ada'), await own.as('ben')];
  expect([await ada(), await ben(), await ada(), await ben()]).toEqual([
    ['tool1'],
    ['tool2'],
    ['tool1'],
    ['tool2'],
  ]);
  const shared = await namesThrough(upstream({ ttlMs: 60_000, cacheScope: 'public' }), { identity });
  const [eve, dan] = [await shared.as('eve'), await shared.as('dan')];
  expect([await eve(), await dan()]).toEqual([['tool1'], ['tool1']]);
});

test('a change that is announced ends the time of a list', async () => {
  const up = upstream({ ttlMs: 60_000, cacheScope: 'public' });
  const names = await (await namesThrough(up)).as();
  let changes = 0;
  await using _watch = await names.client.subscribe({ tools: true }, { onChange: () => changes++ });
  expect([await names(), await names()]).toEqual([['tool1'], ['tool1']]);
  up.announce();
  await until('the change was announced', () => changes > 0);
  expect(await names()).toEqual(['tool2']);
});

test('lists of an older server are kept on connections that announce changes, until one does', async () => {
  let asked = 0;
  const server = createServer({
    ...{ name: 'older', version: '1', changes: true, logger: () => undefined },
    use: [
      (call, next) => {
        if (call.method === 'tools/list') asked++;
        return next(call);
      },
    ],
    tools: { one: tool({ run: () => 'one' }) },
  });
  const serving = await serve(server, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  const older = { revision: '2025-11-25' } as const;
  const overSocket = await (await namesThrough(serving.url.replace('http', 'ws'), older)).as();
  expect([await overSocket(), await overSocket()]).toEqual([['one'], ['one']]);
  expect(asked).toBe(1);
  server.tool('two', {}, () => 'two');
  await until('the new tool is listed', async () => (await overSocket()).includes('two'));
  // Over HTTP, the stream of notifications may be away.
  asked = 0;
  const overHttp = await (await namesThrough(serving.url, older)).as();
  await overHttp();
  await overHttp();
  expect(asked).toBe(2);
});
