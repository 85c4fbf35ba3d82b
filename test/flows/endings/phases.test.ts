import { Agent } from 'node:http';
import { connect } from 'fullmcp/client';
import { afterAll, describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { modern, modernStream } from '../../support/http/modern.js';
import { openSession } from '../../support/http/sessions.js';
import { soon, until } from '../../support/until.js';
import { killAll, start } from './processes.js';

afterAll(killAll);
vi.setConfig({ testTimeout: 120_000 });

const eras = [['2026-07-28'], ['2025-11-25']] as const;

/** Calls a tool of a server directly, in either era. */
async function call(url: string, revision: string, name: string, args: object): Promise<unknown> {
  const params = { name, arguments: args };
  const { text } =
    revision === '2026-07-28'
      ? await modern(url, 'tools/call', params)
      : await (await openSession(url, revision)).request('tools/call', params);
  const { result, error } = JSON.parse(text);
  return result?.content[0].text ?? error;
}

describe('between SIGTERM and the drain', () => {
  test('the server is not ready, serves new connections, and ends each of them with its reply', async () => {
    const served = await start({ shutdownDelayMs: 60_000 });
    expect(await served.ready()).toBe(200);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await modern(served.url, 'tools/call', { name: 'who' }, { agent });
    expect(first.headers.connection).toBe('keep-alive');
    served.child.kill('SIGTERM');
    await until('the server is not ready', async () => (await served.ready()) === 503);
    const kept = await modern(served.url, 'tools/call', { name: 'who' }, { agent });
    expect([kept.status, kept.headers.connection]).toEqual([200, 'close']);
    for (const [revision] of eras) expect(await call(served.url, revision, 'who', {})).toBe('one');
    const stream = await modernStream(served.url, 'tools/call', { name: 'talk', arguments: { ms: 1 } });
    expect(stream.headers.connection).toBe('close');
    const health = await fetch(served.url.replace('/mcp', '/health'));
    expect(health.status).toBe(200);
    const opened = new WebSocket(served.url.replace('http', 'ws'), 'mcp');
    await soon('The WebSocket', new Promise((resolve) => opened.on('open', resolve)));
    opened.close();
    agent.destroy();
    served.child.kill('SIGKILL');
    await served.exit;
  });

  test('a call that was open before ends its connection, too', async () => {
    const served = await start({ shutdownDelayMs: 300 });
    const agent = new Agent({ keepAlive: true });
    const slow = modern(served.url, 'tools/call', { name: 'slow', arguments: { ms: 500 } }, { agent });
    await served.says('began');
    served.child.kill('SIGTERM');
    const { status, headers } = await slow;
    expect([status, headers.connection]).toEqual([200, 'close']);
    expect(await served.exit).toEqual([0, null]);
    agent.destroy();
  });
});

describe.each(eras)('the drain of a server with a client of %s', (revision) => {
  test('lets a long call finish, and ends the lifespan after it', async () => {
    const served = await start({ drainMs: 30_000 });
    const slow = call(served.url, revision, 'slow', { ms: 1500 });
    await served.says('began');
    served.child.kill('SIGTERM');
    await until('nobody is served any more', async () => (await served.ready()) === undefined);
    expect(served.lines).not.toContain('ended');
    expect(await slow).toBe('one');
    expect(await served.exit).toEqual([0, null]);
    expect(served.lines.slice(-2)).toEqual(['ended', 'closed']);
  });

  test('ends a call that takes longer than drainMs, and tells the client why', async () => {
    const served = await start({ drainMs: 100 });
    const slow = call(served.url, revision, 'slow', { ms: 60_000 });
    await served.says('began');
    served.child.kill('SIGTERM');
    expect(await slow).toMatchObject({ message: 'The server is shutting down' });
    expect(await served.exit).toEqual([0, null]);
  });

  test('lets a call with a stream send the rest of it', async () => {
    const served = await start({ drainMs: 30_000 });
    const params = { name: 'talk', arguments: { ms: 700 }, _meta: { progressToken: 1 } };
    const events =
      revision === '2026-07-28'
        ? await modernStream(served.url, 'tools/call', params, { meta: { progressToken: 1 } })
        : await (await openSession(served.url, revision)).stream('tools/call', params);
    await served.says('began');
    served.child.kill('SIGTERM');
    const data = (await events.rest())
      .filter((event) => event.data !== '')
      .map(({ data }) => JSON.parse(data));
    expect(data.map(({ params, result }) => params?.message ?? result.content[0].text)).toEqual([
      'begun',
      'done',
      'one',
    ]);
    expect(await served.exit).toEqual([0, null]);
  });
});

test('subscriptions end with their result, the stream of a session ends, and a WebSocket is closed with 1001', async () => {
  const served = await start({ drainMs: 30_000 });
  const filter = { resourceSubscriptions: ['test://news'] };
  const listening = await modernStream(served.url, 'subscriptions/listen', { notifications: filter });
  await listening.next();
  const session = await openSession(served.url);
  const get = await session.get();
  await get.next();
  const socket = new WebSocket(served.url.replace('http', 'ws'), 'mcp');
  await new Promise((resolve) => socket.on('open', resolve));
  const closed = new Promise((resolve) =>
    socket.on('close', (code, reason) => resolve([code, String(reason)])),
  );
  const idle = new Agent({ keepAlive: true });
  await modern(served.url, 'ping', {}, { agent: idle });
  served.child.kill('SIGTERM');
  const [last] = (await listening.rest()).slice(-1);
  expect(JSON.parse(String(last?.data))).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  expect(await get.rest()).toEqual([]);
  expect(await soon('The end of the WebSocket', closed)).toEqual([1001, 'The server is shutting down']);
  // Neither the idle connection nor anything else keeps the process.
  expect(await soon('The exit', served.exit, 45_000)).toEqual([0, null]);
  idle.destroy();
});

test('our client retries a call on another connection that the old server has refused', async () => {
  const served = await start({ drainMs: 10_000 });
  await using client = await connect(served.url);
  const slow = client.callTool('slow', { ms: 500 });
  await served.says('began');
  served.child.kill('SIGTERM');
  expect((await slow).text).toBe('one');
  await expect(client.callTool('who', {}, { timeoutMs: 1000 })).rejects.toThrow();
  expect(await served.exit).toEqual([0, null]);
});
