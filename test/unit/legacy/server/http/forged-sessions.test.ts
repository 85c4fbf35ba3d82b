import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../../../../src/node.js';
import { attackedServer } from '../../../../support/http/attacked-server.js';
import { send } from '../../../../support/http/http.js';
import { callText } from '../../../../support/http/modern.js';
import { jsonHeaders, openSession, sessionClient } from '../../../../support/http/sessions.js';

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
  test('gets 400 and a hint if it is a call of the session era', async () => {
    const body = '{"jsonrpc":"2.0","id":3,"method":"tools/list"}';
    const reply = await send(url, { headers: jsonHeaders, body });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toMatchObject({
      id: 3,
      error: { code: -32600, message: expect.stringContaining('initialize') },
    });
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
