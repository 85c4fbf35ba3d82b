import {
  auth0,
  clerk,
  cognito,
  gitlab,
  keycloak,
  type OAuthProxyOptions,
  okta,
  type UpstreamProvider,
  workos,
} from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import { CALLBACK, UpstreamTest } from '../../../../support/oauth/upstreams/login.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OpenIdFacts,
  openIdRoutes,
} from '../../../../support/oauth/upstreams/open-id.js';
import * as providers from '../../../../support/oauth/upstreams/open-id-providers.js';
import { UpstreamStandIn } from '../../../../support/oauth/upstreams/stand-in.js';
import { until } from '../../../../support/until.js';

const registration = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const pool = { region: 'eu-central-1', userPoolId: 'eu-central-1_AbCdEfGhI' };
const realm = { url: 'https://login.example.com/', realm: 'my realm' };

async function setUp(facts: OpenIdFacts, upstream: UpstreamProvider, options?: Partial<OAuthProxyOptions>) {
  const standIn = await UpstreamStandIn.start((tools) => openIdRoutes(tools, facts));
  return { standIn, test: await UpstreamTest.start(upstream, standIn, options) };
}

const rows: readonly [name: string, OpenIdFacts, UpstreamProvider, scope: string][] = [
  [
    'auth0',
    providers.auth0Facts,
    auth0({ ...registration, domain: 'tenant.eu.auth0.com' }),
    'openid profile email offline_access',
  ],
  [
    'okta',
    providers.oktaFacts,
    okta({ ...registration, domain: 'example.okta.com' }),
    'openid profile email offline_access',
  ],
  ['keycloak', providers.keycloakFacts, keycloak({ ...registration, ...realm }), 'openid profile email'],
  ['cognito', providers.cognitoFacts, cognito({ ...registration, ...pool }), 'openid profile email'],
  [
    'workos',
    providers.workosFacts,
    workos({ ...registration, domain: 'example.authkit.app' }),
    'openid profile email offline_access',
  ],
  [
    'clerk',
    providers.clerkFacts,
    clerk({ ...registration, domain: 'example.clerk.accounts.dev' }),
    'openid profile email offline_access',
  ],
  ['gitlab', providers.gitlabFacts(), gitlab(registration), 'openid profile email'],
];

describe.each(rows)('%s', (_, facts, upstream, scope) => {
  it('logs a user in, identified by the ID token, and sends only what the provider knows', async () => {
    const { standIn, test } = await setUp(facts, upstream);
    const { auth } = await test.logIn();
    expect(test.logs).toEqual([]);
    const { sub } = facts.claims;
    expect(auth).toMatchObject({ issuer: facts.issuer, subject: sub, email: 'ann@example.com' });
    const [asked] = standIn.to(facts.authorization);
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      scope,
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      state: expect.any(String),
      nonce: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    });
    const secret = facts.method === 'post' ? ['client_id', 'client_secret'] : [];
    const [token] = standIn.to(facts.token);
    expect([...(token?.form.keys() ?? [])].sort()).toEqual(
      ['code', 'code_verifier', 'grant_type', 'redirect_uri', ...secret].sort(),
    );
  });

  it('refreshes, and ends the login when the provider does', async () => {
    let isEnded = false;
    const standIn = await UpstreamStandIn.start((tools) => {
      const routes = openIdRoutes(tools, { ...facts, expiresIn: 1 });
      const token = `POST ${facts.token}`;
      const ended = { status: 400, json: { error: 'invalid_grant' } };
      return { ...routes, [token]: (asked) => (isEnded ? ended : (routes[token]?.(asked) ?? ended)) };
    });
    const test = await UpstreamTest.start(upstream, standIn);
    const { tokens } = await test.logIn();
    const first = await test.refresh(tokens);
    const second = await test.refresh(first.tokens);
    expect([first.status, second.status]).toEqual([200, 200]);
    const refreshes = standIn
      .to(facts.token)
      .filter(({ form }) => form.get('grant_type') === 'refresh_token');
    expect(refreshes).toHaveLength(2);
    for (const { form } of refreshes) expect(form.has('resource')).toBe(false);
    isEnded = true;
    expect((await test.refresh(second.tokens)).status).toBe(400);
    await expect(test.check(second.tokens.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('does not trust an email address that nobody has verified, or an ID token for another client', async () => {
    const { email_verified: _verified, ...claims } = facts.claims;
    const { email_verified: _unused, ...user } = facts.user ?? {};
    const unverified = await setUp({ ...facts, claims, user }, upstream);
    expect((await unverified.test.logIn()).auth.email).toBeUndefined();
    const foreign = await setUp({ ...facts, claims: { ...facts.claims, aud: 'another' } }, upstream);
    expect((await foreign.test.logIn()).error).toBe('temporarily_unavailable');
    expect(foreign.test.logs.join()).toMatch(/aud/);
  });
});

describe('the presets', () => {
  it('refuse options that cannot work, and say which', () => {
    const wrong: readonly [() => unknown, RegExp][] = [
      [
        () => auth0({ ...registration, domain: 'https://tenant.auth0.com' }),
        /auth0: `domain` must be the name of a host/,
      ],
      [
        () => okta({ ...registration, domain: 'x', authorizationServer: 'a/b' }),
        /okta: `authorizationServer`/,
      ],
      [() => okta({ clientId: CLIENT_ID, domain: 'x' }), /okta: `clientSecret`/],
      [() => keycloak({ ...registration, url: 'login.example.com', realm: 'x' }), /keycloak: `url`/],
      [
        () => keycloak({ ...registration, url: 'http://login.example.com', realm: 'x' }),
        /keycloak: `url`.*https/,
      ],
      [() => keycloak({ ...registration, ...realm, realm: '../x' }), /keycloak: `realm`/],
      [() => cognito({ ...registration, ...pool, region: 'x/y' }), /cognito: `region`/],
      [() => cognito({ ...registration, ...pool, domain: 'https://x' }), /cognito: `domain`/],
      [() => workos({ ...registration, domain: '' }), /workos: `domain`/],
      [() => clerk({ ...registration, domain: 'a b' }), /clerk: `domain`/],
      [() => gitlab({ ...registration, url: 'https://x?y' }), /gitlab: `url`/],
      [() => gitlab({ ...registration, domain: 'x' } as never), /domain/],
    ];
    for (const [make, message] of wrong) expect(make, String(message)).toThrow(message);
  });

  const revoking = rows.filter(([, facts]) => facts.revocation !== undefined);

  it.each(revoking)('revoke the refresh token at the end: %s', async (_, facts, upstream) => {
    const { standIn, test } = await setUp(facts, upstream);
    await test.revoke((await test.logIn()).tokens);
    await until('the revocation', () => standIn.to(facts.revocation as string).length === 1);
    expect(standIn.to(facts.revocation as string)[0]?.form.get('token')).toMatch(/^refresh-/);
  });
});

describe('auth0', () => {
  it('asks for tokens for an API by its audience', async () => {
    const upstream = auth0({
      ...registration,
      domain: 'tenant.eu.auth0.com',
      audience: 'https://api.example.com',
    });
    const { standIn, test } = await setUp(providers.auth0Facts, upstream);
    await test.logIn();
    const [asked] = standIn.to(providers.auth0Facts.authorization);
    expect(asked?.query.get('audience')).toBe('https://api.example.com');
  });
});

describe('okta', () => {
  it('logs in at the server of the organization', async () => {
    const { authorization, token, jwks, userinfo, ...rest } = providers.oktaFacts;
    const move = (url?: string) => String(url).replace('/oauth2/default', '/oauth2');
    const facts: OpenIdFacts = {
      ...rest,
      issuer: 'https://example.okta.com',
      authorization: move(authorization),
      token: move(token),
      jwks: move(jwks),
      userinfo: move(userinfo),
      discovery: 'https://example.okta.com/.well-known/openid-configuration',
    };
    const options = { ...registration, domain: 'example.okta.com', authorizationServer: false } as const;
    const { test } = await setUp(facts, okta(options));
    expect((await test.logIn()).auth.issuer).toBe('https://example.okta.com');
  });
});

describe('keycloak', () => {
  const inside = 'http://keycloak:8080/realms/my%20realm/protocol/openid-connect';
  const facts: OpenIdFacts = {
    ...providers.keycloakFacts,
    token: `${inside}/token`,
    jwks: `${inside}/certs`,
    userinfo: `${inside}/userinfo`,
    revocation: `${inside}/revoke`,
  };
  const upstream = keycloak({ ...registration, ...realm, internalUrl: 'http://keycloak:8080' });

  it('sends users to the public address, and asks for tokens at the internal one', async () => {
    const { standIn, test } = await setUp(facts, upstream, { privateHosts: ['http://keycloak:8080'] });
    expect((await test.logIn()).auth).toMatchObject({ issuer: facts.issuer, subject: '5f9d' });
    const visited = standIn.asked.filter(({ path }) => path.startsWith('https:')).map(({ path }) => path);
    expect(visited).toEqual([facts.authorization]);
  });

  it('does not send a secret over http to a host that the operator has not named', async () => {
    const { standIn, test } = await setUp(facts, upstream);
    expect((await test.logIn()).error).toBe('temporarily_unavailable');
    expect(standIn.to(facts.token)).toEqual([]);
  });

  it('logs in without a secret as a public client', async () => {
    const upstream = keycloak({ clientId: CLIENT_ID, ...realm, authentication: 'none' });
    const { standIn, test } = await setUp(providers.keycloakFacts, upstream);
    await test.logIn();
    const form = standIn.to(providers.keycloakFacts.token)[0]?.form;
    expect(form?.get('client_id')).toBe(CLIENT_ID);
    expect(form?.has('client_secret')).toBe(false);
  });
});

describe('cognito', () => {
  it('logs in at the domain that was chosen, without metadata', async () => {
    const { discovery: _, ...facts } = providers.cognitoFacts;
    const domain = 'example.auth.eu-central-1.amazoncognito.com';
    const { test } = await setUp(facts, cognito({ ...registration, ...pool, domain }));
    const { auth } = await test.logIn();
    expect(auth).toMatchObject({ issuer: facts.issuer, claims: { 'cognito:groups': ['admins'] } });
  });
});

describe('gitlab', () => {
  it('logs in at a GitLab of your own', async () => {
    const url = 'https://code.example.com/gitlab';
    const { test } = await setUp(providers.gitlabFacts(url), gitlab({ ...registration, url: `${url}/` }));
    expect((await test.logIn()).auth).toMatchObject({ issuer: url, claims: { groups_direct: ['team'] } });
  });
});
