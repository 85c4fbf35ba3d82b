import { describe, expect, it } from 'vitest';
import { Browser, callWith } from '../../../support/oauth/proxy-flow.js';
import { proxySetup } from '../../../support/oauth/proxy-setup.js';

// A real OpenID provider that takes requests for authorization only by its back door.

const setUp = proxySetup();
const requires = (required: boolean) => ({
  upstream: {
    configure: <T extends { readonly features: object }>(configuration: T): T => ({
      ...configuration,
      features: {
        ...configuration.features,
        pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: required },
      },
    }),
  },
});

describe('oauthProxy in front of a provider with pushed authorization requests', () => {
  it('pushes its requests if the provider requires it, so that the browser has only their name', async () => {
    const { upstream, server, flow } = await setUp(requires(true));
    const { access_token: token } = await flow.tokens(new Browser());
    expect(JSON.parse((await callWith(server.url, token)).text)).toMatchObject({ subject: 'alice' });
    expect(upstream.count('/request')).toBe(1);
    const [asked] = upstream.seen.filter(({ path }) => path === '/auth');
    expect([...(asked?.query.keys() ?? [])].sort()).toEqual(['client_id', 'request_uri']);
  });

  it('pushes each request once: a second login has another name', async () => {
    const { upstream, flow } = await setUp(requires(true));
    await flow.tokens(new Browser());
    await flow.tokens(new Browser('bob'));
    const names = upstream.seen.flatMap(({ path, query }) =>
      path === '/auth' ? [query.get('request_uri')] : [],
    );
    expect(new Set(names).size).toBe(2);
  });

  it('sends its parameters with the browser if the provider only offers it', async () => {
    const { upstream, flow } = await setUp(requires(false));
    await flow.tokens(new Browser());
    expect(upstream.count('/request')).toBe(0);
  });
});
