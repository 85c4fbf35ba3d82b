import { google } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import { googleRoutes, REVOKE, TOKEN } from '../../../../support/oauth/upstreams/google.js';
import { CALLBACK, UpstreamTest } from '../../../../support/oauth/upstreams/login.js';
import { CLIENT_ID, CLIENT_SECRET, type OpenIdFacts } from '../../../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../../../support/oauth/upstreams/stand-in.js';
import { until } from '../../../../support/until.js';

type GoogleUpstreamOptions = Parameters<typeof google>[0];

const registration = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

async function setUp(facts: Partial<OpenIdFacts> = {}, options: Partial<GoogleUpstreamOptions> = {}) {
  const standIn = await UpstreamStandIn.start(googleRoutes(facts));
  const test = await UpstreamTest.start(google({ ...registration, ...options }), standIn);
  return { standIn, test };
}

/** The claims of the stand-in with some changed. */
function claims(more: Readonly<Record<string, unknown>>): Partial<OpenIdFacts> {
  return { claims: { sub: '1', email: 'ann@example.com', email_verified: true, ...more } };
}

describe('google', () => {
  it('logs a user in, identified by the ID token, and sends only what Google knows', async () => {
    const { standIn, test } = await setUp();
    const { auth } = await test.logIn();
    expect(auth).toMatchObject({
      issuer: 'https://accounts.google.com',
      subject: '110169484474386276334',
      email: 'ann@example.com',
      claims: { name: 'Ann', hd: 'example.com' },
    });
    expect(auth.claims).not.toHaveProperty('at_hash');
    const [asked] = standIn.to('https://accounts.google.com/o/oauth2/v2/auth');
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      scope: 'openid profile email',
      access_type: 'offline',
      prompt: 'consent',
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      state: expect.stringMatching(/.{43}/),
      nonce: expect.stringMatching(/.{43}/),
      code_challenge: expect.stringMatching(/.{43}/),
      code_challenge_method: 'S256',
    });
    const [token] = standIn.to(TOKEN);
    expect(Object.fromEntries(token?.form ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: expect.any(String),
      redirect_uri: CALLBACK,
      code_verifier: expect.any(String),
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
    });
    expect(token?.header('authorization')).toBeUndefined();
  });

  it('keeps the one refresh token that Google issues, and ends the login when Google does', async () => {
    let isKnown = true;
    const standIn = await UpstreamStandIn.start((tools) => {
      const routes = googleRoutes({ expiresIn: 1 })(tools);
      const token = `POST ${TOKEN}` as const;
      return {
        ...routes,
        [token]: (asked) =>
          isKnown ? (routes[token]?.(asked) ?? {}) : { status: 400, json: { error: 'invalid_grant' } },
      };
    });
    const test = await UpstreamTest.start(google(registration), standIn);
    const { tokens, auth } = await test.logIn();
    const first = await test.refresh(tokens);
    const second = await test.refresh(first.tokens);
    expect([first.status, second.status]).toEqual([200, 200]);
    const refreshes = standIn.to(TOKEN).filter(({ form }) => form.get('grant_type') === 'refresh_token');
    expect(new Set(refreshes.map(({ form }) => form.get('refresh_token'))).size).toBe(1);
    expect(await test.upstreamToken(auth)).toMatch(/^opaque-/);
    isKnown = false;
    expect((await test.refresh(second.tokens)).status).toBe(400);
    await expect(test.check(second.tokens.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('has one issuer for users, also where Google leaves the scheme out', async () => {
    const { test } = await setUp(claims({ iss: 'accounts.google.com' }));
    const { auth } = await test.logIn();
    expect([auth.issuer, auth.claims['iss']]).toEqual(Array(2).fill('https://accounts.google.com'));
  });

  it('does not trust an email address that Google has not verified', async () => {
    const { test } = await setUp(claims({ email_verified: false }));
    expect((await test.logIn()).auth.email).toBeUndefined();
  });

  it.each([
    ['for another client', { aud: 'another-client' }, /aud/],
    ['issued to another client', { aud: [CLIENT_ID, 'x'], azp: 'x' }, /another client/],
    ['of another issuer', { iss: 'https://accounts.google.com.evil.example' }, /iss/],
    ['that has ended', { exp: 1 }, /exp/],
  ])('refuses an ID token %s', async (_, wrong, reason) => {
    const { test } = await setUp(claims(wrong));
    expect((await test.logIn()).error).toBe('temporarily_unavailable');
    expect(test.logs.join()).toMatch(reason);
  });

  it('lets only members of the organization in, whatever the parameter said', async () => {
    const inside = await setUp({}, { hostedDomain: 'example.com' });
    expect((await inside.test.logIn()).auth.subject).toBe('110169484474386276334');
    const [asked] = inside.standIn.to('https://accounts.google.com/o/oauth2/v2/auth');
    expect(asked?.query.get('hd')).toBe('example.com');
    const outside = await setUp(claims({ hd: 'evil.example' }), { hostedDomain: 'example.com' });
    expect((await outside.test.logIn()).error).toBe('access_denied');
    const personal = await setUp(claims({}), { hostedDomain: 'example.com' });
    expect((await personal.test.logIn()).error).toBe('access_denied');
  });

  it('revokes the refresh token in the way that Google understands', async () => {
    const { standIn, test } = await setUp();
    await test.revoke((await test.logIn()).tokens);
    await until('the revocation', () => standIn.to(REVOKE).length === 1);
    const [asked] = standIn.to(REVOKE);
    expect([...(asked?.form.entries() ?? [])]).toEqual([['token', expect.stringMatching(/^refresh-/)]]);
    expect(test.logs).toEqual([]);
  });

  it('refuses options that cannot work', () => {
    const wrong = (options: object) => () => google({ ...registration, ...options } as GoogleUpstreamOptions);
    expect(wrong({ clientSecret: undefined })).toThrow(/google: `clientSecret` must be a string/);
    expect(wrong({ clientId: '' })).toThrow(/google: `clientId`/);
    expect(wrong({ hostDomain: 'x' })).toThrow(/hostedDomain/);
  });
});
