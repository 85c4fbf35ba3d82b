import { describe, expect, it } from 'vitest';
import { callback } from '../../../../../src/oauth/proxy/endpoints/callback.js';
import type { ProxyParts } from '../../../../../src/oauth/proxy/endpoints/parts.js';
import { digestText } from '../../../../../src/oauth/proxy/tokens/random.js';

// The end of a login, with a provider that names a user, and an operator that admits some.

const browser = 'b'.repeat(43);
const state = 's'.repeat(43);
const redirectUri = 'https://app.example.com/back';

interface Login {
  readonly admit?: ProxyParts['admit'];
  readonly accepts?: (user: { readonly subject: string }) => boolean;
  readonly registered?: readonly string[];
}

/** Ends a login. Returns the parameters that the client is sent, and the login that was kept for it. */
async function finish({ admit = () => true, accepts, registered = [redirectUri] }: Login) {
  const created: { scopes: readonly string[]; user: { subject: string } }[] = [];
  const request = {
    clientId: 'c',
    redirectUri,
    challenge: 'x',
    scopes: ['read', 'write'],
    state: 'its state',
  };
  const login = { verifier: 'v', nonce: 'n', browser: await digestText(browser), request };
  const parts = {
    admit,
    log: () => undefined,
    addresses: { issuer: 'https://mcp.example.com' },
    cookies: { read: () => browser },
    clients: { find: async () => ({ redirectUris: registered, mayRefresh: true }) },
    records: {
      read: async () => ({ value: login, version: '1' }),
      remove: async () => ({}),
      write: async () => ({ ok: true }),
    },
    grants: {
      create: async (grant: (typeof created)[0]) => {
        created.push(grant);
        return 'the code';
      },
    },
    upstream: {
      redeem: async () => ({ accessToken: 'a', reply: {} }),
      context: async () => ({}),
      provider: { identify: async () => ({ issuer: 'https://provider', subject: 'alice' }), accepts },
    },
  } as unknown as ProxyParts;
  const url = `https://mcp.example.com/callback?code=1&state=${state}`;
  const reply = await callback(new Request(url), parts);
  const { searchParams } = new URL(reply.headers.get('location') ?? '');
  return { sent: Object.fromEntries(searchParams), created };
}

describe('the callback of the authorization proxy', () => {
  it('sends a user who is admitted back with a code, and keeps the login with all scopes', async () => {
    const { sent, created } = await finish({});
    expect(sent).toEqual({ code: 'the code', state: 'its state', iss: 'https://mcp.example.com' });
    expect(created).toMatchObject([{ scopes: ['read', 'write'], user: { subject: 'alice' } }]);
  });

  it('refuses a user whom the operator does not admit, and keeps no login', async () => {
    const { sent, created } = await finish({ admit: async () => false });
    expect(sent).toMatchObject({
      error: 'access_denied',
      error_description: 'This user may not use the server.',
    });
    expect(sent).not.toHaveProperty('code');
    expect(created).toEqual([]);
  });

  it('refuses a user whom the provider does not accept, even if the operator admits everybody', async () => {
    const { sent, created } = await finish({ accepts: () => false });
    expect(sent['error']).toBe('access_denied');
    expect(created).toEqual([]);
  });

  it('keeps only the scopes that the operator admits, and none that the client did not ask for', async () => {
    const { created } = await finish({ admit: () => ['read', 'admin'] });
    expect(created).toMatchObject([{ scopes: ['read'] }]);
  });

  it('refuses a login whose client has removed its redirect URI in the meantime', async () => {
    await expect(finish({ registered: ['https://app.example.com/other'] })).rejects.toThrow(
      'removed the redirect_uri',
    );
  });
});
