import { createServer, memoryBus, memoryStore } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sessionIds } from '../../../../../src/legacy/server/http/session-id.js';
import { type Serving, serve } from '../../../../../src/node.js';
import { memoryEventLog } from '../../../../../src/state/memory/event-log.js';
import { openSession, sessionClient } from '../../../../support/http/sessions.js';

const [one, two] = [
  'the first secret, of 32 characters or more',
  'the second secret, of 32 characters or more',
];
const hour = 3_600_000;
const handshake = { revision: '2025-11-25', client: undefined, capabilities: {} } as const;

const open: Serving[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((serving) => serving.close()));
});

async function start(secret: string | undefined, shared = false) {
  const logged: string[] = [];
  const cluster = {
    store: memoryStore(),
    bus: memoryBus(),
    eventLog: memoryEventLog(),
    start: async () => [],
    ping: async () => undefined,
    close: async () => undefined,
  };
  const server = createServer({
    name: 'replica',
    version: '1',
    logger: (_level, message) => void logged.push(message),
    ...(shared && { cluster }),
  });
  const serving = await serve(server, { port: 0, signals: false, ...(secret && { secret }) });
  open.push(serving);
  return { url: serving.url, logged };
}

describe('a session that another process opened', () => {
  test.each([
    ['with another secret', two],
    ['with a random secret', undefined],
  ])('%s is reported once, with what to set', async (_case, secret) => {
    const [here, elsewhere] = [await start(one), await start(secret)];
    for (let times = 0; times < 2; times++) {
      const { id } = await openSession(elsewhere.url, '2025-11-25', {});
      expect((await sessionClient(here.url, id).request('ping')).status).toBe(404);
    }
    const [warning, ...others] = here.logged;
    expect(others).toEqual([]);
    expect(warning).toContain('opened while this process ran, but not with its secret');
    expect(warning).toContain('MCP_SECRET');
    expect(warning).toContain('MCP_CLUSTER_URL');
  });

  test('is reported by processes with a cluster, too', async () => {
    const [here, elsewhere] = [await start(one, true), await start(two, true)];
    const { id } = await openSession(elsewhere.url, '2025-11-25', {});
    expect((await sessionClient(here.url, id).request('ping')).status).toBe(404);
    expect(here.logged).toEqual([expect.stringContaining('not with its secret')]);
  });

  test('with the same secret is not reported, also after its end', async () => {
    const [here, elsewhere] = [await start(one), await start(one)];
    const { id } = await openSession(elsewhere.url, '2025-11-25', {});
    const client = sessionClient(here.url, id);
    expect((await client.request('ping')).status).toBe(200);
    await fetch(here.url, { method: 'DELETE', headers: { 'mcp-session-id': id } });
    expect((await client.request('ping')).status).toBe(404);
    expect(here.logged).toEqual([]);
  });
});

test.each([
  'nonsense',
  'a.b',
  `${Buffer.from('{}').toString('base64url')}.${'A'.repeat(43)}`,
  `${Buffer.from('{"t":1}').toString('base64url')}.${'A'.repeat(43)}`,
  `${Buffer.from('null').toString('base64url')}.${'A'.repeat(43)}`,
  `${Buffer.from('[').toString('base64url')}.${'A'.repeat(43)}`,
  crypto.randomUUID(),
  'x'.repeat(5000),
])('the session id %s, which no process has issued, is not reported', async (id) => {
  const { url, logged } = await start(one);
  expect((await sessionClient(url, id).request('ping')).status).toBe(404);
  expect(logged).toEqual([]);
});

describe('the origin of a session id', () => {
  test('is known for a secret that was replaced without keeping the old one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const id = await sessionIds({ secrets: [two], maxAgeMs: hour }).issue(handshake, 'ann');
    vi.setSystemTime(Date.now() + 1000);
    expect(await sessionIds({ secrets: [one], maxAgeMs: hour }).originOf(id, 'ann')).toBe('earlier');
    expect(await sessionIds({ secrets: [one, two], maxAgeMs: hour }).originOf(id, 'ann')).toBeUndefined();
  });

  test('is not a concern after a restart of a server without a secret', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const id = await sessionIds({ secrets: undefined, maxAgeMs: hour }).issue(handshake);
    vi.setSystemTime(Date.now() + 1000);
    expect(await sessionIds({ secrets: undefined, maxAgeMs: hour }).originOf(id, '')).toBeUndefined();
  });

  test('is not a concern once the session has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const here = sessionIds({ secrets: [one], maxAgeMs: hour });
    const id = await sessionIds({ secrets: [two], maxAgeMs: hour }).issue(handshake);
    expect(await here.originOf(id, '')).toBe('meanwhile');
    vi.setSystemTime(Date.now() + hour);
    expect(await here.originOf(id, '')).toBeUndefined();
  });

  test('is not a concern if a session without a caller is sent by one', async () => {
    const here = sessionIds({ secrets: [one], maxAgeMs: hour });
    expect(await here.originOf(await here.issue(handshake), 'ann')).toBeUndefined();
  });
});

describe('a message to a connection of HTTP+SSE', () => {
  async function post(sessionId: string) {
    const logged: string[] = [];
    const server = createServer({
      name: 'old',
      version: '1',
      logger: (_level, message) => void logged.push(message),
    });
    const handler = createHandler(server);
    for (let times = 0; times < 2; times++) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const headers = { 'content-type': 'application/json' };
      const url = `http://localhost/messages?sessionId=${sessionId}`;
      expect((await handler(new Request(url, { method: 'POST', headers, body }))).status).toBe(404);
    }
    await handler.close();
    return logged;
  }

  test('that another process has is reported once: the balancer must be sticky for such clients', async () => {
    expect(await post(crypto.randomUUID())).toEqual([expect.stringContaining('to the same process')]);
  });

  test('that no process can have is not reported', async () => {
    expect(await post('nonsense')).toEqual([]);
  });
});
