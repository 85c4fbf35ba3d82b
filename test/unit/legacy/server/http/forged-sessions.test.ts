import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../../../../src/node.js';
import { attackedServer } from '../../../../support/http/attacked-server.js';
import { openEvents, send } from '../../../../support/http/http.js';
import { callText } from '../../../../support/http/modern.js';
import { jsonHeaders, openSession, sessionClient } from '../../../../support/http/sessions.js';
import { until } from '../../../../support/until.js';

const secret = 'the secret of all processes of this server';
let serving: Serving;
let url: string;

beforeAll(async () => {
  serving = await serve(attackedServer().server, { port: 0, signals: false, secret });
  url = serving.url;
});

afterAll(() => serving.close());

describe('a session id', () => {
  const flip = (id: string, at: number): string =>
    id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
  const neighbour = (letter: string): string => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return alphabet[alphabet.indexOf(letter) ^ 1] as string;
  };

  test.each<[what: string, forge: (id: string) => string]>([
    ['a UUID', () => 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
    ['a bare dot', () => '.'],
    ['__proto__', () => '__proto__'],
    ['truncated', (id) => id.slice(0, -1)],
    ['without its signature', (id) => id.slice(0, id.indexOf('.') + 1)],
    ['with another first character', (id) => flip(id, 0)],
    ['with another character in the middle', (id) => flip(id, 40)],
    ['with the last bit flipped', (id) => id.slice(0, -1) + neighbour(id.slice(-1))],
    [
      'with another payload',
      (id) => btoa('{"r":"2025-11-25"}').replaceAll('=', '') + id.slice(id.indexOf('.')),
    ],
    ['repeated', (id) => `${id}${id}`],
    ['very long', () => `${'a'.repeat(6000)}.b`],
  ])('that is forged gets 404 for every method: %s', async (_what, forge) => {
    const { id } = await openSession(url);
    const forger = sessionClient(url, forge(id));
    const post = await forger.request('tools/list');
    expect(post.status).toBe(404);
    expect(JSON.parse(post.text)).toMatchObject({ id: 1, error: { code: -32600 } });
    expect((await forger.get()).status).toBe(404);
    expect((await forger.end()).status).toBe(404);
    expect((await forger.post([])).status).toBe(404);
    expect((await sessionClient(url, id).request('ping')).status).toBe(200);
  });

  test('of a server with another secret gets 404', async () => {
    const other = await serve(attackedServer().server, {
      port: 0,
      signals: false,
      secret: 'a secret that belongs to somebody else',
    });
    const foreign = await openSession(other.url);
    expect((await foreign.request('ping')).status).toBe(200);
    expect((await sessionClient(url, foreign.id).request('ping')).status).toBe(404);
    await other.close();
  });

  test('survives a restart with the same secret, together with its revision', async () => {
    const before = await serve(attackedServer().server, { port: 0, signals: false, secret });
    const session = await openSession(before.url, '2025-06-18');
    expect((await session.request('ping')).status).toBe(200);
    await before.close();
    const after = await serve(attackedServer().server, { port: 0, signals: false, secret });
    const reply = await sessionClient(after.url, session.id).request('resources/read', { uri: 'no://such' });
    expect(reply.status).toBe(200);
    // The responses still have the form of its revision.
    expect(JSON.parse(reply.text).error.code).toBe(-32002);
    const standing = await sessionClient(after.url, session.id).get();
    expect(standing.status).toBe(200);
    standing.drop();
    await after.close();
  });

  test('that has expired gets 404, even while it is in use', async () => {
    const brief = await serve(attackedServer().server, { port: 0, signals: false, sessionMaxAgeMs: 1000 });
    const session = await openSession(brief.url);
    const standing = await session.get();
    let served = 0;
    for (;;) {
      const { status } = await session.request('ping');
      if (status === 404) break;
      expect(status).toBe(200);
      served += 1;
      if (served > 100_000) throw new Error('The session never expires');
    }
    expect(served).toBeGreaterThan(0);
    await standing.rest();
    expect((await session.get()).status).toBe(404);
    expect((await (await openSession(brief.url)).request('ping')).status).toBe(200);
    await brief.close();
  });

  test('that was ended with DELETE gets 404', async () => {
    const session = await openSession(url);
    expect((await session.request('ping')).status).toBe(200);
    expect((await session.end()).status).toBe(200);
    expect((await session.request('ping')).status).toBe(404);
    expect((await session.get()).status).toBe(404);
    expect((await session.end()).status).toBe(404);
  });
});

describe('a request without a session', () => {
  const post = (message: object, headers: Record<string, string> = {}) =>
    send(url, {
      headers: { ...jsonHeaders, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });

  test.each([
    ['of 2025-11-25', { 'mcp-protocol-version': '2025-11-25' }],
    ['that does not say its revision', {}],
  ])('is served if it is a call %s, as some hosts send it after initialize', async (_what, headers) => {
    expect((await openSession(url)).id).toContain('.');
    const noted = await post({ method: 'notifications/initialized' }, headers);
    expect([noted.status, noted.text]).toEqual([202, '']);
    const listed = await post({ id: 3, method: 'tools/list' }, headers);
    expect(listed.status).toBe(200);
    expect(JSON.parse(listed.text).result.tools.length).toBeGreaterThan(1);
    const params = { name: 'echo', arguments: { text: 'ok' } };
    const called = await post({ id: 4, method: 'tools/call', params }, headers);
    expect(JSON.parse(called.text)).toMatchObject({ id: 4, result: { content: [{ text: 'ok' }] } });
    expect(called.headers['mcp-session-id']).toBeUndefined();
  });

  test.each(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])(
    'gets 400 and a hint if it is %s, which changes a session',
    async (method) => {
      const reply = await post({ id: 3, method, params: { level: 'debug', uri: 'test://x' } });
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text)).toMatchObject({
        id: 3,
        error: { code: -32600, message: expect.stringContaining('initialize') },
      });
    },
  );

  test.each([
    ['an answer', { id: 3, result: {} }],
    ['an error', { id: 3, error: { code: -32603, message: 'no' } }],
  ])('gets 400 if it is %s, because nobody was asked', async (_what, message) => {
    expect((await post(message)).status).toBe(400);
  });

  test('keeps its connection until the response, although the handler lets the client go', async () => {
    const params = { name: 'gated', arguments: { to: 0, release: true }, _meta: { progressToken: 1 } };
    const headers = { 'mcp-protocol-version': '2025-11-25' };
    const { text } = await post({ id: 1, method: 'tools/call', params }, headers);
    expect(text).toContain('through');
  });

  test('ends its call when the client goes away, because nobody can resume it', async () => {
    const { server, begun, aborted } = attackedServer();
    const other = await serve(server, { port: 0, signals: false });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const params = { name: 'hangAfterProgress', arguments: {}, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ ...message, params });
    const stream = await openEvents(other.url, { headers: jsonHeaders, body });
    await until('the call has begun', () => begun('hangAfterProgress') === 1);
    stream.drop();
    await until('the call was aborted', () => aborted('hangAfterProgress') === 1);
    await other.close();
  });

  test.each<[what: string, params: unknown]>([
    ['no parameters', undefined],
    ['no version', {}],
    ['a version that is a number', { protocolVersion: 20251125 }],
  ])('gets -32602 if it is an initialize with %s', async (_what, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'initialize', params });
    const reply = await send(url, { headers: jsonHeaders, body });
    expect(JSON.parse(reply.text)).toMatchObject({ id: 3, error: { code: -32602 } });
    expect(reply.headers['mcp-session-id']).toBeUndefined();
  });

  test('gets the newest session revision if it is an initialize with an unknown version', async () => {
    const session = await openSession(url, '1999-01-01');
    expect(session.initialized['protocolVersion']).toBe('2025-11-25');
  });

  test('does not keep the server from serving others', async () => {
    expect(await callText(url, 'echo', { text: 'ok' })).toBe('ok');
  });
});
