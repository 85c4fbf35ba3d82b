import { type OpenIdOptions, openId } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/oauth/stand-ins/stand-in.js';
import { UpstreamTest } from '../../../support/oauth/upstreams/login.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OpenIdFacts,
  openIdRoutes,
} from '../../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../../support/oauth/upstreams/stand-in.js';

const issuer = 'https://login.example.com';
const userinfo = `${issuer}/userinfo`;

async function setUp(facts: Partial<OpenIdFacts> = {}, options: Partial<OpenIdOptions> = {}, status = 200) {
  const standIn = await UpstreamStandIn.start((tools) => ({
    ...openIdRoutes(tools, {
      issuer,
      authorization: `${issuer}/authorize`,
      token: `${issuer}/token`,
      jwks: `${issuer}/jwks`,
      userinfo,
      discovery: `${issuer}/.well-known/openid-configuration`,
      method: 'basic',
      claims: {},
      user: { email: 'ann@example.com', email_verified: true, name: 'Ann' },
      ...facts,
    }),
    ...(status !== 200 && { [`GET ${userinfo}`]: () => ({ status, json: {} }) }),
  }));
  const upstream = openId({ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...options });
  return { standIn, test: await UpstreamTest.start(upstream, standIn) };
}

describe('openId', () => {
  it('says which part of the registration is missing', () => {
    expect(() => openId(undefined as never)).toThrow('openId: the options must be an object');
    expect(() => openId({ issuer: 'login.example.com', clientId: 'c' })).toThrow('openId: `issuer`');
    expect(() => openId({ issuer: 'https://login.example.com' } as never)).toThrow('openId: `clientId`');
  });

  it('reads the email address at the userinfo endpoint if the ID token does not have it', async () => {
    const { standIn, test } = await setUp();
    expect((await test.logIn()).auth).toMatchObject({
      subject: 'user-1',
      email: 'ann@example.com',
      claims: { name: 'Ann' },
    });
    expect(standIn.to(userinfo)[0]?.header('authorization')).toMatch(/^Bearer opaque-/);
  });

  it('does not ask for facts that the ID token has, or that nobody wants', async () => {
    const claims = { email: 'ann@example.com', email_verified: false };
    const known = await setUp({ claims });
    expect((await known.test.logIn()).auth.email).toBeUndefined();
    const unwanted = await setUp({}, { scopes: ['openid'] });
    expect((await unwanted.test.logIn()).auth.email).toBeUndefined();
    for (const { standIn } of [known, unwanted]) expect(standIn.to(userinfo)).toEqual([]);
  });

  it('takes no fact from the userinfo endpoint that the ID token states otherwise', async () => {
    const { test } = await setUp({ claims: { name: 'Ann of the ID token', iss: issuer } });
    const { auth } = await test.logIn();
    expect(auth.claims['name']).toBe('Ann of the ID token');
  });

  it('refuses facts about another user', async () => {
    const { test } = await setUp({ user: { sub: 'user-2', email: 'eve@example.com', email_verified: true } });
    expect((await test.logIn()).error).toBe('temporarily_unavailable');
    expect(test.logs.join()).toMatch(/userinfo endpoint described another user/);
  });

  it('does not take an address from the one and its verification from the other', async () => {
    const { test } = await setUp({ claims: { email_verified: true }, user: { email: 'eve@example.com' } });
    expect((await test.logIn()).auth.email).toBeUndefined();
  });

  it('takes no facts about an unnamed user', async () => {
    const { test } = await setUp({
      user: { sub: undefined, email: 'eve@example.com', email_verified: true },
    });
    expect((await test.logIn()).auth.email).toBeUndefined();
  });

  it('does without the userinfo endpoint if the token is not for it, but not if the endpoint fails', async () => {
    const refused = await setUp({}, {}, 403);
    expect((await refused.test.logIn()).auth.email).toBeUndefined();
    const failing = await setUp({}, {}, 500);
    expect((await failing.test.logIn()).error).toBe('temporarily_unavailable');
  });

  it('completes a document for OAuth that lacks the keys with the one for OpenID', async () => {
    const standIn = await UpstreamStandIn.start((tools) => ({
      ...openIdRoutes(tools, {
        issuer,
        authorization: `${issuer}/authorize`,
        token: `${issuer}/token`,
        jwks: `${issuer}/jwks`,
        discovery: `${issuer}/.well-known/openid-configuration`,
        metadata: { authorization_endpoint: `${issuer}/other`, code_challenge_methods_supported: null },
        method: 'basic',
        claims: {},
      }),
      [`GET ${issuer}/.well-known/oauth-authorization-server`]: () => ({
        json: {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          code_challenge_methods_supported: ['S256'],
        },
      }),
    }));
    const upstream = openId({ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET });
    const test = await UpstreamTest.start(upstream, standIn);
    expect((await test.logIn()).auth.subject).toBe('user-1');
    expect(standIn.to(`${issuer}/other`)).toEqual([]);
  });

  it('does not complete a document with that of another issuer', async () => {
    const standIn = await UpstreamStandIn.start(() => ({
      [`GET ${issuer}/.well-known/oauth-authorization-server`]: () => ({
        json: {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          code_challenge_methods_supported: ['S256'],
        },
      }),
      [`GET ${issuer}/.well-known/openid-configuration`]: () => ({
        json: { issuer: 'https://evil.example.com', jwks_uri: 'https://evil.example.com/jwks' },
      }),
    }));
    const upstream = openId({ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET });
    const test = await UpstreamTest.start(upstream, standIn);
    await expect(test.begin()).resolves.toMatchObject({ url: expect.stringContaining('error=') });
    expect(test.logs.join()).toMatch(/evil\.example\.com/);
  });

  describe('with pushed requests', () => {
    const par = `${issuer}/par`;
    const pushed = async (answer: Answer, options: Partial<OpenIdOptions> = { pushedRequests: true }) => {
      const standIn = await UpstreamStandIn.start((tools) => ({
        ...openIdRoutes(tools, {
          issuer,
          authorization: `${issuer}/authorize`,
          token: `${issuer}/token`,
          jwks: `${issuer}/jwks`,
          discovery: `${issuer}/.well-known/openid-configuration`,
          metadata: { pushed_authorization_request_endpoint: par },
          method: 'basic',
          claims: {},
        }),
        [`POST ${par}`]: () => answer,
      }));
      const upstream = openId({ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...options });
      const test = await UpstreamTest.start(upstream, standIn);
      return { standIn, test, url: new URL((await test.begin()).url) };
    };

    it('authenticates, and shows the browser only the name of the request', async () => {
      const { standIn, url } = await pushed({
        status: 201,
        json: { request_uri: 'urn:x:1', expires_in: 60 },
      });
      expect(url.href).toBe(`${issuer}/authorize?client_id=${CLIENT_ID}&request_uri=urn%3Ax%3A1`);
      const [asked] = standIn.to(par);
      expect(asked?.header('authorization')).toMatch(/^Basic /);
      expect([...(asked?.form.keys() ?? [])].sort()).toEqual([
        'client_id',
        'code_challenge',
        'code_challenge_method',
        'nonce',
        'redirect_uri',
        'response_type',
        'scope',
        'state',
      ]);
    });

    it('is the choice of the registration if the metadata does not require it', async () => {
      const { standIn } = await pushed({ status: 500 }, {});
      expect(standIn.to(par)).toEqual([]);
    });

    it.each([
      [
        { status: 400, json: { error: 'invalid_request', error_description: 'No.' } },
        /pushed request.*invalid_request/,
      ],
      [{ status: 201, json: { expires_in: 60 } }, /request_uri/],
      [{ status: 503, json: {} }, /pushed request/],
    ])('fails the login if the provider refuses the request: %j', async (answer, message) => {
      const { test, url } = await pushed(answer);
      expect(url.searchParams.get('error')).toBe('temporarily_unavailable');
      expect(test.logs.join()).toMatch(message);
      expect(test.logs.join()).not.toContain(CLIENT_SECRET);
    });

    it('fails the login if the provider has no endpoint for them', async () => {
      const { test } = await setUp({}, { pushedRequests: true });
      expect(new URL((await test.begin()).url).searchParams.get('error')).toBe('temporarily_unavailable');
      expect(test.logs.join()).toMatch(/pushed_authorization_request_endpoint/);
    });
  });
});
