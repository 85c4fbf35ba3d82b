import { entra } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import { entraRoutes, OTHER_TENANT, TENANT } from '../../../../support/oauth/upstreams/entra.js';
import { CALLBACK, UpstreamTest } from '../../../../support/oauth/upstreams/login.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../../../support/oauth/upstreams/stand-in.js';

type EntraUpstreamOptions = Parameters<typeof entra>[0];

const registration = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, tenant: TENANT };
const SITE = 'https://login.microsoftonline.com';

async function setUp(
  facts: Parameters<typeof entraRoutes>[0] = {},
  options: Partial<EntraUpstreamOptions> = {},
) {
  const standIn = await UpstreamStandIn.start(entraRoutes(facts));
  const test = await UpstreamTest.start(entra({ ...registration, ...options }), standIn);
  return { standIn, test };
}

describe('entra', () => {
  it('logs a user of the tenant in, and never sends `resource`', async () => {
    const scopes = ['api://the-client-id/files.read'];
    const { standIn, test } = await setUp({}, { scopes });
    const { auth } = await test.logIn();
    expect(auth).toMatchObject({
      issuer: `${SITE}/${TENANT}/v2.0`,
      subject: 'pairwise-subject',
      claims: { oid: 'aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb', tid: TENANT },
    });
    const [asked] = standIn.to(`${SITE}/${TENANT}/oauth2/v2.0/authorize`);
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      scope: 'openid profile email offline_access api://the-client-id/files.read',
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      state: expect.any(String),
      nonce: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    });
    const [token] = standIn.to(`${SITE}/${TENANT}/oauth2/v2.0/token`);
    expect([...(token?.form.keys() ?? [])].sort()).toEqual([
      'client_id',
      'client_secret',
      'code',
      'code_verifier',
      'grant_type',
      'redirect_uri',
    ]);
    // Nothing is discovered: the metadata of Entra breaks two rules.
    expect(standIn.asked.filter(({ path }) => path.includes('.well-known'))).toEqual([]);
  });

  it('refreshes with the newest refresh token, without `resource`', async () => {
    const { standIn, test } = await setUp({ expiresIn: 1 });
    const { tokens } = await test.logIn();
    const first = await test.refresh(tokens);
    const second = await test.refresh(first.tokens);
    expect([first.status, second.status]).toEqual([200, 200]);
    const refreshes = standIn
      .to(`${SITE}/${TENANT}/oauth2/v2.0/token`)
      .filter(({ form }) => form.get('grant_type') === 'refresh_token');
    expect(new Set(refreshes.map(({ form }) => form.get('refresh_token'))).size).toBe(2);
    for (const { form } of refreshes) expect(form.has('resource')).toBe(false);
  });

  it('has an email address only if the owner of its domain has verified it', async () => {
    const emailOf = async (more: Readonly<Record<string, unknown>>) =>
      (await (await setUp({ more })).test.logIn()).auth.email;
    expect(await emailOf({})).toBeUndefined();
    for (const xms_edov of [true, 1, '1', 'true'])
      expect(await emailOf({ xms_edov })).toBe('ann@example.com');
    for (const xms_edov of [false, 0, '0', 'false']) expect(await emailOf({ xms_edov })).toBeUndefined();
  });

  it('lets a user in who is in as many groups as fit into a token, and not with endless claims', async () => {
    const groups = Array.from(
      { length: 200 },
      (_, at) => `aaaaaaaa-0000-1111-2222-${String(at).padStart(12, '0')}`,
    );
    const { test } = await setUp({ more: { groups } });
    expect((await test.logIn()).auth.claims['groups']).toEqual(groups);
    const endless = await setUp({ more: { groups: [...groups, ...groups, ...groups] } });
    expect((await endless.test.logIn()).error).toBe('temporarily_unavailable');
    expect(endless.test.logs.join()).toMatch(/claims about the user/);
  });

  it('refuses users of another tenant', async () => {
    const { test } = await setUp({ tid: OTHER_TENANT });
    expect((await test.logIn()).error).toBe('access_denied');
  });

  it.each([
    ['an issuer that is not of its tenant', { iss: `${SITE}/${OTHER_TENANT}/v2.0` }],
    ['no tenant', { tid: undefined }],
    ['a tenant that is not a GUID', { tid: 'x', iss: `${SITE}/x/v2.0` }],
    ['an issuer of version 1', { iss: `https://sts.windows.net/${TENANT}/` }],
    ['the issuer of the metadata of several tenants', { tid: '{tenantid}', iss: `${SITE}/{tenantid}/v2.0` }],
    ['another audience', { aud: 'another-client' }],
  ])('refuses an ID token with %s', async (_, more) => {
    const { test } = await setUp({ more });
    expect((await test.logIn()).error).toBe('temporarily_unavailable');
    expect(test.logs.join()).toMatch(/another issuer|aud/);
  });

  it('lets users of the named tenants in, with an issuer of their own', async () => {
    const options = { tenant: 'organizations', tenants: [TENANT] };
    const inside = await setUp({ path: 'organizations' }, options);
    expect((await inside.test.logIn()).auth.issuer).toBe(`${SITE}/${TENANT}/v2.0`);
    const outside = await setUp({ path: 'organizations', tid: OTHER_TENANT }, options);
    expect((await outside.test.logIn()).error).toBe('access_denied');
    const any = await setUp({ path: 'common', tid: OTHER_TENANT }, { tenant: 'common', tenants: 'any' });
    expect((await any.test.logIn()).auth.issuer).toBe(`${SITE}/${OTHER_TENANT}/v2.0`);
  });

  it('lets personal accounts in, whose tenant has an id too', async () => {
    const tid = '9188040d-6c67-4c5b-b112-36a304b66dad';
    const { test } = await setUp({ path: 'consumers', tid }, { tenant: 'consumers' });
    expect((await test.logIn()).auth.issuer).toBe(`${SITE}/${tid}/v2.0`);
    const company = await setUp({ path: 'consumers' }, { tenant: 'consumers' });
    expect((await company.test.logIn()).error).toBe('access_denied');
  });

  it('logs in at a national cloud', async () => {
    const site = 'https://login.microsoftonline.us';
    const { test } = await setUp({ site }, { authority: site });
    expect((await test.logIn()).auth.issuer).toBe(`${site}/${TENANT}/v2.0`);
  });

  it('refuses options that cannot work', () => {
    const wrong = (options: object) => () => entra({ ...registration, ...options } as EntraUpstreamOptions);
    expect(wrong({ tenant: 'example.onmicrosoft.com' })).toThrow(/entra: `tenant` must be the id/);
    expect(wrong({ tenant: 'common' })).toThrow(/`tenants` must name the tenants/);
    expect(wrong({ tenants: 'any' })).toThrow(/`tenants` is for/);
    expect(wrong({ tenant: 'common', tenants: ['example.com'] })).toThrow(/GUIDs/);
    expect(wrong({ tenantId: TENANT })).toThrow(/tenant/);
    expect(wrong({ clientSecret: undefined })).toThrow(/clientSecret/);
    expect(wrong({ clientSecret: undefined, authentication: 'none' })).not.toThrow();
  });
});
