import { auth0, clerk, cognito, entra, keycloak, okta, workos } from 'fullmcp/auth';
import type { JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { makePresets, type ProviderPresets } from '../../../../../src/oauth/server/presets/make-presets.js';
import type { TokenProvider } from '../../../../../src/oauth/server/tokens/token-provider.js';
import type { McpError } from '../../../../../src/protocol/errors.js';
import {
  authContext,
  type IssuerSetup,
  requestWith,
  TokenIssuer,
} from '../../../../support/oauth/token-issuer.js';

// Each provider against a stand-in that publishes its documents where the provider does, and signs tokens of the provider's form.

type Claims = Readonly<Record<string, unknown>>;
const audience = 'https://mcp.example/mcp';

async function setUp(setup: IssuerSetup, make: (presets: ProviderPresets) => TokenProvider) {
  const issuer = await TokenIssuer.create(setup);
  const provider = make(makePresets(issuer.runtime));
  await provider.start?.(authContext());
  const check = async (claims: Claims, header?: Record<string, unknown>) =>
    await provider.check(requestWith(await issuer.sign(claims as JWTPayload, header)));
  const refusal = async (claims: Claims) =>
    (await check(claims).then(
      () => expect.fail('The token was accepted.'),
      (reason: unknown) => (reason as McpError).challenge?.description,
    )) as string;
  return { issuer, provider, check, refusal };
}

describe.each(Object.entries({ auth0, clerk, cognito, entra, keycloak, okta, workos }))(
  '%s',
  (name, preset) => {
    it.each([null, undefined, 'tenant.example'])('says what it needs if its options are %s', (options) => {
      expect(() => preset(options as never)).toThrow(
        new TypeError(`${name}: the options must be an object, not ${options}.`),
      );
    });
  },
);

describe('auth0', () => {
  const setup = {
    issuer: 'https://tenant.eu.auth0.com/',
    metadataUrl: 'https://tenant.eu.auth0.com/.well-known/openid-configuration',
    jwksUri: 'https://tenant.eu.auth0.com/.well-known/jwks.json',
    alg: 'RS256',
  };
  const auth0 = (presets: ProviderPresets) => presets.auth0({ domain: 'tenant.eu.auth0.com', audience });

  const sub = 'auth0|5f7c8ec7c33c6c004bbafe82';
  const aud = [audience, `${setup.issuer}userinfo`];
  const claims = { sub, aud, scope: 'openid read', permissions: ['write'], azp: 'client' };

  it('has an issuer with a slash at its end, and only the scopes that the client asked for', async () => {
    const { check, refusal, provider } = await setUp(setup, auth0);
    expect(await check(claims)).toMatchObject({
      subject: sub,
      scopes: ['openid', 'read'],
      clientId: 'client',
    });
    expect(await refusal({ iss: 'https://tenant.eu.auth0.com' })).toMatch(/issuer/);
    expect(provider.resource?.authorizationServers).toEqual([setup.issuer]);
  });

  it('counts the permissions of the user as scopes if it is told to', async () => {
    const domain = 'tenant.eu.auth0.com';
    const { check } = await setUp(setup, (presets) => presets.auth0({ domain, audience, permissions: true }));
    expect(await check(claims)).toMatchObject({ scopes: ['openid', 'read', 'write'] });
  });

  it('rejects a domain that is a URL', async () => {
    await expect(
      setUp(setup, (presets) => presets.auth0({ domain: 'https://tenant.eu.auth0.com/', audience })),
    ).rejects.toThrow(/auth0: `domain` must be the name of a host/);
  });
});

describe('keycloak', () => {
  const setup = {
    issuer: 'https://login.example/realms/my%20realm',
    metadataUrl: 'https://login.example/realms/my%20realm/.well-known/openid-configuration',
    jwksUri: 'https://login.example/realms/my%20realm/protocol/openid-connect/certs',
    alg: 'RS256',
  };
  const options = { url: 'https://login.example', realm: 'my realm', audience };

  it('accepts access tokens, and refuses the other tokens that the realm signs', async () => {
    const { check, refusal } = await setUp(setup, (presets) => presets.keycloak(options));
    const claims = { typ: 'Bearer', azp: 'client', scope: 'profile files' };
    expect(await check(claims, { typ: 'JWT' })).toMatchObject({
      scopes: ['profile', 'files'],
      clientId: 'client',
    });
    expect(await refusal({ ...claims, typ: 'ID' })).toMatch(/not an access token of Keycloak \(typ\)/);
    expect(await refusal({ ...claims, typ: 'Refresh' })).toMatch(/typ/);
    // Without an audience mapper.
    expect(await refusal({ ...claims, aud: undefined })).toMatch(/does not have an audience/);
    expect(await refusal({ ...claims, aud: 'account' })).toMatch(/another audience \(aud\): account/);
  });

  it('fetches the keys by another name than the one in its tokens', async () => {
    const jwksUri = 'http://keycloak:8080/realms/my%20realm/protocol/openid-connect/certs';
    const internal = { internalUrl: 'http://keycloak:8080', privateHosts: ['http://keycloak:8080'] };
    const { check, issuer } = await setUp({ ...setup, jwksUri }, (presets) =>
      presets.keycloak({ ...options, ...internal }),
    );
    expect(await check({})).toBeDefined();
    expect(issuer.fetched).toEqual([jwksUri]);
    await expect(
      setUp(setup, (presets) => presets.keycloak({ ...options, internalUrl: 'http://keycloak:8080' })),
    ).rejects.toThrow(/uses http/);
  });
});

describe('okta', () => {
  const issuer = 'https://example.okta.com/oauth2/default';
  const setup = {
    issuer,
    metadataUrl: `${issuer}/.well-known/openid-configuration`,
    jwksUri: `${issuer}/v1/keys`,
  };

  it('reads scopes from an array and the client from cid, and refuses the tokens of the organization', async () => {
    const { check, refusal } = await setUp(setup, (presets) =>
      presets.okta({ domain: 'example.okta.com', audience: 'api://default' }),
    );
    const claims = {
      aud: 'api://default',
      scp: ['files', 'offline_access'],
      cid: 'client',
      sub: 'ann@example.com',
    };
    expect(await check(claims)).toMatchObject({ scopes: ['files', 'offline_access'], clientId: 'client' });
    expect(await refusal({ ...claims, iss: 'https://example.okta.com' })).toMatch(/issuer/);
  });
});

describe('entra', () => {
  const tenant = '11111111-2222-3333-4444-555555555555';
  const clientId = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
  const setup = {
    issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
    jwksUri: `https://login.microsoftonline.com/${tenant}/discovery/v2.0/keys`,
    alg: 'RS256',
  };
  const entra = (presets: ProviderPresets) =>
    presets.entra({ tenant, clientId, scopes: [`api://${clientId}/read`] });

  it('accepts tokens of both versions, and scopes in the form that clients request', async () => {
    const { check, provider } = await setUp(setup, entra);
    const two = { aud: clientId, azp: 'client', scp: 'read write', tid: tenant, ver: '2.0' };
    expect(await check(two)).toMatchObject({
      clientId: 'client',
      scopes: ['read', `api://${clientId}/read`, 'write', `api://${clientId}/write`],
    });
    const v1 = `https://sts.windows.net/${tenant}/`;
    const one = {
      iss: v1,
      aud: `api://${clientId}`,
      appid: 'client',
      roles: ['Sync.All'],
      tid: tenant,
      ver: '1.0',
    };
    expect(await check(one)).toMatchObject({
      clientId: 'client',
      scopes: ['Sync.All', `api://${clientId}/Sync.All`],
    });
    expect(provider.resource).toMatchObject({
      authorizationServers: [setup.issuer],
      scopes: [`api://${clientId}/read`],
    });
  });

  it('refuses ID tokens, other tenants, and tokens for Graph', async () => {
    const { refusal } = await setUp(setup, entra);
    const claims = { aud: clientId, azp: 'client', scp: 'read', tid: tenant };
    expect(await refusal({ ...claims, azp: undefined, scp: undefined, roles: ['Admin'] })).toMatch(
      /ID token/,
    );
    expect(await refusal({ ...claims, tid: '99999999-2222-3333-4444-555555555555' })).toMatch(/tenant/);
    expect(await refusal({ ...claims, aud: '00000003-0000-0000-c000-000000000000' })).toMatch(/audience/);
    expect(await refusal({ ...claims, iss: 'https://login.microsoftonline.com/common/v2.0' })).toMatch(
      /issuer/,
    );
  });

  it('rejects common, organizations and domains, which are not issuers', async () => {
    for (const wrong of ['common', 'organizations', 'example.onmicrosoft.com'])
      await expect(setUp(setup, (presets) => presets.entra({ tenant: wrong, clientId }))).rejects.toThrow(
        /GUID/,
      );
  });
});

describe('cognito', () => {
  const issuer = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbC';
  const setup = {
    issuer,
    metadataUrl: `${issuer}/.well-known/openid-configuration`,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    alg: 'RS256',
  };
  const options = { region: 'eu-central-1', userPoolId: 'eu-central-1_AbC', clientIds: ['app'] };
  const claims = { aud: undefined, token_use: 'access', client_id: 'app', scope: 'https://mcp.example/read' };

  it('checks the client instead of the audience, and refuses ID tokens', async () => {
    const { check, refusal } = await setUp(setup, (presets) => presets.cognito(options));
    expect(await check(claims)).toMatchObject({ clientId: 'app', scopes: ['https://mcp.example/read'] });
    expect(await refusal({ ...claims, client_id: 'other' })).toMatch(/client/);
    expect(await refusal({ ...claims, client_id: undefined })).toMatch(/client/);
    expect(await refusal({ ...claims, token_use: 'id', aud: 'app' })).toMatch(/ID token/);
    expect(await refusal({ ...claims, token_use: undefined })).toMatch(/token_use/);
  });

  it('checks the audience too if there is one', async () => {
    const { check, refusal } = await setUp(setup, (presets) => presets.cognito({ ...options, audience }));
    expect(await check({ ...claims, aud: audience })).toBeDefined();
    expect(await refusal(claims)).toMatch(/audience/);
  });

  it('rejects a configuration without clients', async () => {
    await expect(setUp(setup, (presets) => presets.cognito({ ...options, clientIds: [] }))).rejects.toThrow(
      /`clientIds` is required/,
    );
  });
});

describe('workos', () => {
  it('refuses a token whose audience is the client, because the resource indicator is not set up', async () => {
    const { check, refusal } = await setUp(
      { issuer: 'https://example.authkit.app', alg: 'RS256' },
      (presets) => presets.workos({ domain: 'example.authkit.app', audience }),
    );
    expect(await check({ sub: 'user_01' })).toMatchObject({ subject: 'user_01' });
    expect(await refusal({ aud: 'client_01' })).toMatch(/another audience \(aud\): client_01/);
  });
});

describe('clerk', () => {
  it('checks the client instead of the audience, and refuses session tokens', async () => {
    const { check, refusal } = await setUp(
      { issuer: 'https://example.clerk.accounts.dev', alg: 'RS256' },
      (presets) => presets.clerk({ domain: 'example.clerk.accounts.dev', clientIds: ['app'] }),
    );
    const claims = { aud: undefined, client_id: 'app', scope: 'profile' };
    expect(await check(claims, { typ: 'at+jwt' })).toMatchObject({ clientId: 'app' });
    expect(await refusal({ ...claims, client_id: 'other' })).toMatch(/client/);
    expect(await refusal({ aud: undefined, azp: 'https://app.example', sid: 'sess_1' })).toMatch(/client/);
  });
});

it('The functions for providers say that their options are missing', () => {
  const functions = { auth0, clerk, cognito, entra, keycloak, okta, workos };
  for (const [name, provider] of Object.entries(functions))
    expect(() => provider(undefined as never)).toThrow(`${name}: the options must be an object`);
});

it('The error for an issuer with http names the origin that privateHosts would need', () => {
  const http = { url: 'http://keycloak:8080', realm: 'r', audience: 'a' };
  expect(() => keycloak(http)).toThrow('name the origin http://keycloak:8080 in `privateHosts`');
  expect(() => keycloak({ ...http, privateHosts: ['http://keycloak:8080'] })).not.toThrow();
});
