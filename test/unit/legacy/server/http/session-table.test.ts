import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Serving, serve } from '../../../../../src/node.js';
import { type Attacked, attackedServer } from '../../../../support/http/attacked-server.js';
import { openEvents } from '../../../../support/http/http.js';
import { callText } from '../../../../support/http/modern.js';
import { openSession, sessionClient } from '../../../../support/http/sessions.js';
import { until } from '../../../../support/until.js';

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeEach(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false, maxSessions: 2 });
  url = serving.url;
});

afterEach(() => serving.close());

describe('the limit of open sessions', () => {
  test('keeps busy sessions, and rejects another with 503', async () => {
    const busy = [await openSession(url), await openSession(url)];
    const calls = busy.map((session) => session.request('tools/call', { name: 'hang' }));
    await until('both calls have begun', () => attacked.begun('hang') === 2);
    const third = await openSession(url);
    const reply = await third.request('ping');
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('sessions'),
    });
    // The modern era has no sessions and is still served.
    expect(await callText(url, 'echo', { text: 'modern' })).toBe('modern');
    for (const session of busy)
      await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await Promise.all(calls);
    expect((await third.request('ping')).status).toBe(200);
    for (const session of busy) expect((await session.request('ping')).status).toBe(200);
  });

  test('counts a session with an open stream as busy', async () => {
    const busy = [await openSession(url), await openSession(url)];
    const standing = [await busy[0]?.get(), await busy[1]?.get()];
    const third = await openSession(url);
    expect((await third.request('ping')).status).toBe(503);
    standing[0]?.drop();
    await until('there is room', async () => (await third.request('ping')).status === 200);
    standing[1]?.drop();
  });

  test('does not affect idle sessions beyond it, because their ids carry the handshake', async () => {
    const sessions = await Promise.all(
      ['2025-11-25', '2025-06-18', '2025-03-26', '2025-11-25'].map((revision) => openSession(url, revision)),
    );
    for (let round = 0; round < 3; round++)
      for (const session of sessions) expect((await session.request('ping')).status).toBe(200);
    const missing = await sessions[1]?.request('resources/read', { uri: 'no://such' });
    expect(JSON.parse(String(missing?.text)).error.code).toBe(-32002);
    // Batches depend on the revision, which was not forgotten either.
    expect((await sessions[2]?.post([{ jsonrpc: '2.0', id: 1, method: 'ping' }]))?.status).toBe(200);
    expect((await sessions[3]?.post([{ jsonrpc: '2.0', id: 1, method: 'ping' }]))?.status).toBe(400);
  });

  test('does not revive a session that the client has ended', async () => {
    const first = await openSession(url);
    await first.request('ping');
    await first.end();
    for (let at = 0; at < 4; at++) {
      const other = await openSession(url);
      await other.request('ping');
      await other.end();
    }
    expect((await first.request('ping')).status).toBe(404);
  });

  test('counts the connections of HTTP+SSE too', async () => {
    const sse = url.replace('/mcp', '/sse');
    const open = [await openEvents(sse, { method: 'GET' }), await openEvents(sse, { method: 'GET' })];
    expect((await openEvents(sse, { method: 'GET' })).status).toBe(503);
    open[0]?.drop();
    await until('there is room', async () => {
      const events = await openEvents(sse, { method: 'GET' });
      events.drop();
      return events.status === 200;
    });
    open[1]?.drop();
  });
});

describe('two processes with one secret', () => {
  test('serve one session in turns', async () => {
    const secret = 'a secret that both processes have in common';
    const make = (): Promise<Serving> => serve(attackedServer().server, { port: 0, signals: false, secret });
    const [one, two] = [await make(), await make()];
    const session = await openSession(one.url);
    for (const { url: there } of [two, one, two, one]) {
      const reply = await sessionClient(there, session.id).request('tools/call', {
        name: 'echo',
        arguments: { text: there },
      });
      expect(JSON.parse(reply.text).result.content[0].text).toBe(there);
    }
    await one.close();
    await two.close();
  });
});

describe('a new secret', () => {
  test('does not end the sessions of the old one while both are accepted', async () => {
    const [old, young] = [
      'the secret of last year is known by now',
      'the secret of this year is not known yet',
    ];
    const make = (secrets: string): Promise<Serving> => {
      vi.stubEnv('MCP_SECRET', secrets);
      return serve(attackedServer().server, { port: 0, signals: false });
    };
    const [before, both, after] = [await make(old), await make(`${young},${old}`), await make(young)];
    const first = await openSession(before.url);
    const second = await openSession(both.url);
    const status = async (id: string, there: Serving): Promise<number> =>
      (await sessionClient(there.url, id).request('ping')).status;
    expect(await status(first.id, both)).toBe(200);
    expect(await status(second.id, after)).toBe(200);
    expect(await status(second.id, before)).toBe(404);
    expect(await status(first.id, after)).toBe(404);
    vi.unstubAllEnvs();
    for (const there of [before, both, after]) await there.close();
  });
});

describe('a session', () => {
  test('applies logging/setLevel to its later calls and to no other session, and rejects an unknown level', async () => {
    const server = createServer({
      name: 'logs',
      version: '1',
      tools: {
        talk: tool({
          run: (_input, { log }) => {
            for (const level of ['debug', 'info', 'warning', 'error', 'emergency'] as const)
              log[level](level);
            return 'said';
          },
        }),
      },
    });
    const logs = await serve(server, { port: 0, signals: false });
    const [one, two] = [await openSession(logs.url), await openSession(logs.url)];
    const levels = async (session: typeof one): Promise<string[]> => {
      const reply = await session.request('tools/call', { name: 'talk' });
      expect(reply.text).toContain('said');
      return [...reply.text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => String(level));
    };
    expect(await levels(one)).toEqual(['info', 'warning', 'error', 'emergency']);
    expect((await one.request('logging/setLevel', { level: 'error' })).text).toContain('"result":{}');
    expect(await levels(one)).toEqual(['error', 'emergency']);
    expect(await levels(two)).toEqual(['info', 'warning', 'error', 'emergency']);
    await one.request('logging/setLevel', { level: 'debug' });
    expect(await levels(one)).toEqual(['debug', 'info', 'warning', 'error', 'emergency']);
    for (const level of ['loud', 5, undefined, '__proto__']) {
      const reply = await one.request('logging/setLevel', { level });
      expect(JSON.parse(reply.text).error.code, String(level)).toBe(-32602);
    }
    await logs.close();
  });

  test('tells the handler the name, revision and capabilities of the client', async () => {
    const server = createServer({
      name: 'facts',
      version: '1',
      tools: {
        facts: tool({ run: (_input, { client }) => `${client.info?.name} ${client.revision}` }),
        needs: tool({
          run: (_input, { client }) => {
            client.require('sampling');
            return 'fine';
          },
        }),
      },
    });
    const facts = await serve(server, { port: 0, signals: false });
    const session = await openSession(facts.url, '2025-06-18');
    expect((await session.request('tools/call', { name: 'facts' })).text).toContain('test 2025-06-18');
    const reply = await session.request('tools/call', { name: 'needs' });
    // That revision has no error code for this; the model can read a tool's failure.
    expect([reply.status, JSON.parse(reply.text).result]).toEqual([
      200,
      { isError: true, content: [{ type: 'text', text: expect.stringContaining('sampling') }] },
    ]);
    await facts.close();
  });
});
