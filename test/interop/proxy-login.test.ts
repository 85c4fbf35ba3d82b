import type { SafeFetch } from 'fullmcp/oauth-proxy';
import { afterEach, describe, expect, test } from 'vitest';
import {
  openPort,
  type ProxiedOptions,
  startProxied,
  startUpstream,
} from '../support/oauth/proxied-server.js';
import { OfficialProgram, type Who } from './support/login.js';

// The official clients log in to a server of ours through oauthProxy, in front of a real OpenID provider.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp(options: ProxiedOptions = {}) {
  const http = await openPort();
  const upstream = await startUpstream({
    callbacks: [`${http.origin}/callback`],
    // As the specification has it: the claims of scopes are at the userinfo endpoint.
    configure: (configuration) => ({ ...configuration, conformIdTokenClaims: true }),
  });
  closing.push(upstream.close);
  const server = await startProxied(upstream.issuer, { ...options, http });
  closing.push(server.close);
  return { upstream, server };
}

async function program(...init: Parameters<typeof OfficialProgram.start>): Promise<OfficialProgram> {
  const made = await OfficialProgram.start(...init);
  closing.push(() => made.close());
  return made;
}

const everyone: readonly Who[] = ['v1', 'v2 legacy', 'v2 pinned'];

describe.each(everyone)('the official client %s', (who) => {
  test('registers, logs its user in through oauthProxy, calls a tool, and refreshes without the user', async () => {
    const { upstream, server } = await setUp();
    const official = await program(who);
    const client = await official.connect(server.url);
    const me = async () => {
      const { content } = await client.callTool({ name: 'me' });
      return JSON.parse(content[0]?.text ?? '') as Record<string, unknown>;
    };
    expect(await me()).toMatchObject({
      issuer: upstream.issuer,
      subject: 'test',
      email: 'test@example.com',
      scopes: ['files:read'],
      clientId: official.information?.client_id,
    });
    expect(official.user.opened).toHaveLength(1);
    expect(new URL(official.user.opened[0] as string).searchParams.get('resource')).toBe(server.url);
    official.loseAccessToken();
    expect(await me()).toMatchObject({ subject: 'test' });
    expect(official.user.opened).toHaveLength(1);
    expect(new Set(official.saved.map((tokens) => tokens.refresh_token)).size).toBe(2);
  });

  test('logs in with a client metadata document instead of a registration', async () => {
    const clientId = 'https://client.example.com/metadata.json';
    const official = await program(who, clientId);
    const document = { client_id: clientId, ...official.clientMetadata };
    const asked: string[] = [];
    const safeFetch: SafeFetch = async (
      url,
      { loopback, maxBytes, timeoutMs, maxRedirects, ...init } = {},
    ) => {
      asked.push(String(url));
      return String(url) === clientId ? Response.json(document) : fetch(url, init as RequestInit);
    };
    const { server } = await setUp({ proxy: { registration: false, fetch: safeFetch } });
    const client = await official.connect(server.url);
    const { content } = await client.callTool({ name: 'me' });
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ subject: 'test', clientId });
    expect(asked.filter((url) => url === clientId)).toHaveLength(1);
  });
});

describe('a tool that needs another scope', () => {
  test.each(['v2 legacy', 'v2 pinned'] as const)(
    'sends the user of the official client %s back to consent, and runs after it',
    async (who) => {
      const { server } = await setUp();
      const official = await program(who);
      const written = await official.withLogin(server.url, async () => {
        const client = await official.connect(server.url);
        const { content } = await client.callTool({ name: 'write' });
        return content[0]?.text;
      });
      expect(written).toBe('written');
      expect(official.saved.map(({ scope }) => scope)).toEqual(['files:read', 'files:read files:write']);
      const asked = official.user.opened.map((url) => new URL(url).searchParams.get('scope'));
      expect(asked).toEqual(['files:read', 'files:read files:write']);
    },
  );

  // With a refresh token, version 1 refreshes instead of asking for more scopes.
  test('is refused to the official client v1, which does not ask for more scopes, with the reason', async () => {
    const { server } = await setUp();
    const official = await program('v1');
    const client = await official.connect(server.url);
    await expect(client.callTool({ name: 'write' })).rejects.toThrow(/403/);
    expect(official.user.opened).toHaveLength(1);
    expect((await client.callTool({ name: 'me' })).isError).not.toBe(true);
  });
});
