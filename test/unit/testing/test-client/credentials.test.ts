import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey, mintToken, sharedSecretJwt } from 'fullmcp/auth';
import { describe, expect, test } from 'vitest';
import { everyWire, testClient } from '../../../../src/testing.js';

const issued = { secret: 'only for tests: at least 32 bytes', issuer: 'tests', audience: 'notes' };
const who = tool({ run: (_, ctx) => `${ctx.auth?.subject} ${ctx.auth?.scopes}` });

describe('the option auth of testClient', () => {
  const make = () =>
    createServer({ name: 'notes', version: '1', auth: sharedSecretJwt(issued), tools: { who } });

  test('is checked by the auth of the server, over every transport of HTTP', async () => {
    const token = await mintToken({ sub: 'bea', scope: 'read' }, { ...issued, expiresIn: '5m' });
    const names: string[] = [];
    await everyWire(
      make,
      async (client, { name }) => {
        names.push(name);
        expect((await client.callTool('who')).text).toBe('bea read');
      },
      { auth: token },
    );
    expect(names).toEqual([
      'http 2026-07-28',
      'http 2025-11-25',
      'http 2025-06-18',
      'http 2025-03-26',
      'http+sse 2024-11-05',
    ]);
  });

  test('may be a function, and a wrong token is refused', async () => {
    await expect(testClient(make(), { auth: async () => 'wrong' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('may be true, with the credentials in the headers', async () => {
    const hash = await hashApiKey('key_of-the-nightly-report');
    const auth = apiKey({ keys: [{ hash, subject: 'cron', scopes: [] }], header: 'x-key', prefix: 'key_' });
    const server = createServer({ name: 'n', version: '1', auth, tools: { who } });
    await using client = await testClient(server, {
      auth: true,
      headers: { 'x-key': 'key_of-the-nightly-report' },
    });
    expect((await client.callTool('who')).text).toContain('cron');
  });

  test('cannot be combined with a caller, needs HTTP, and needs a server with auth', async () => {
    await expect(testClient(make(), { auth: 'x', caller: {} })).rejects.toThrow('pass `caller`, or `auth`');
    await expect(testClient(make(), { auth: 'x', over: 'stdio' })).rejects.toThrow(
      'Over stdio, a test has no',
    );
    const open = createServer({ name: 'open', version: '1', tools: { who } });
    await expect(testClient(open, { auth: 'x' })).rejects.toThrow('this server has no `auth`');
  });

  test('is not needed: a caller is given to the handlers as before, even if the server has auth', async () => {
    await using client = await testClient(make(), { caller: { subject: 'ada', scopes: ['write'] } });
    expect((await client.callTool('who')).text).toBe('ada write');
  });
});
