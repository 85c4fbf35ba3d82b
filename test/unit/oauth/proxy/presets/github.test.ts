import { github } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import { EMAILS, type GithubFacts, githubRoutes } from '../../../../support/oauth/upstreams/github.js';
import { CALLBACK, UpstreamTest } from '../../../../support/oauth/upstreams/login.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../../../support/oauth/upstreams/stand-in.js';
import { until } from '../../../../support/until.js';

type GithubUpstreamOptions = Parameters<typeof github>[0];

const registration = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const AUTHORIZE = 'https://github.com/login/oauth/authorize';
const TOKEN = 'https://github.com/login/oauth/access_token';
const CHECK = `https://api.github.com/applications/${CLIENT_ID}/token`;

async function setUp(facts: GithubFacts = {}, options: Partial<GithubUpstreamOptions> = {}) {
  const standIn = await UpstreamStandIn.start(githubRoutes(facts));
  const test = await UpstreamTest.start(github({ ...registration, ...options }), standIn);
  return { standIn, test };
}

describe('github', () => {
  it('logs a user in, whom the check of the token names, and sends only what GitHub knows', async () => {
    const { standIn, test } = await setUp();
    const { auth } = await test.logIn();
    expect(auth).toMatchObject({
      issuer: 'https://github.com/login/oauth',
      subject: '583231',
      email: 'ann@example.com',
      claims: { login: 'octocat', name: 'Mona', picture: 'https://avatars.example/1' },
    });
    expect(JSON.stringify(auth)).not.toContain('gho_');
    const [asked] = standIn.to(AUTHORIZE);
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      scope: 'read:user user:email',
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      state: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    });
    const [token] = standIn.to(TOKEN);
    expect([...(token?.form.keys() ?? [])].sort()).toEqual(
      ['client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri'].sort(),
    );
    expect(token?.header('authorization')).toBeUndefined();
    const [check] = standIn.to(CHECK);
    expect(JSON.parse(check?.body ?? '')).toEqual({ access_token: expect.stringMatching(/^gho_/) });
    expect(test.logs).toEqual([]);
  });

  it('has an email address only if GitHub has verified it and the app may read it', async () => {
    const [old, primary] = EMAILS;
    const unverified = [old, { ...primary, verified: false }] as object[];
    expect((await (await setUp({ emails: unverified })).test.logIn()).auth.email).toBeUndefined();
    expect((await (await setUp({ readsEmail: false })).test.logIn()).auth.email).toBeUndefined();
  });

  it('refuses a token of another app, and a profile of another user', async () => {
    const foreign = await setUp({ isForeign: true });
    expect((await foreign.test.logIn()).error).toBe('temporarily_unavailable');
    expect(foreign.test.logs.join()).toMatch(/not a token of this app/);
    const other = await setUp({ profileId: 1 });
    expect((await other.test.logIn()).error).toBe('temporarily_unavailable');
    expect(other.test.logs.join()).toMatch(/another user/);
  });

  it('asks GitHub about tokens without an end when a client refreshes, and ends the login with them', async () => {
    const { standIn, test } = await setUp();
    const { tokens, auth } = await test.logIn();
    const next = await test.refresh(tokens);
    expect(next.status).toBe(200);
    expect(standIn.to(CHECK)).toHaveLength(2);
    expect(standIn.to(TOKEN)).toHaveLength(1);
    // The user removes the app in the settings of GitHub.
    const authorization = standIn.to(CHECK)[0]?.header('authorization') as string;
    const body = JSON.stringify({ access_token: await test.upstreamToken(auth) });
    await standIn.fetch(CHECK, { method: 'DELETE', headers: { authorization }, body });
    expect((await test.refresh(next.tokens)).status).toBe(400);
    await expect(test.check(next.tokens.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it.each([401, 422, 403, 502])('keeps the login while GitHub cannot be asked: %i', async (status) => {
    let isDown = false;
    const standIn = await UpstreamStandIn.start((tools) => {
      const routes = githubRoutes()(tools);
      const check = `POST ${CHECK}` as const;
      return { ...routes, [check]: (asked) => (isDown ? { status } : (routes[check]?.(asked) ?? {})) };
    });
    const test = await UpstreamTest.start(github(registration), standIn);
    const { tokens } = await test.logIn();
    isDown = true;
    expect((await test.refresh(tokens)).status).toBe(503);
    isDown = false;
    expect((await test.refresh(tokens)).status).toBe(200);
  });

  it('refreshes the tokens of a GitHub App, each with the newest refresh token', async () => {
    const { standIn, test } = await setUp({ isGithubApp: true, expiresIn: 1 });
    const { tokens, auth } = await test.logIn();
    const next = await test.refresh(tokens);
    expect(next.status).toBe(200);
    expect(await test.upstreamToken(auth)).toMatch(/^ghu_/);
    const used = standIn.to(TOKEN).map(({ form }) => form.get('refresh_token'));
    expect(used).toEqual([null, expect.stringMatching(/^ghr_/), expect.stringMatching(/^ghr_/)]);
    expect(used[1]).not.toBe(used[2]);
  });

  it('ends the login of a GitHub App whose refresh token has ended, which GitHub says with status 200', async () => {
    let isEnded = false;
    const standIn = await UpstreamStandIn.start((tools) => {
      const routes = githubRoutes({ isGithubApp: true, expiresIn: 1 })(tools);
      const token = `POST ${TOKEN}` as const;
      const error = { error: 'bad_refresh_token', error_description: 'The refresh token is incorrect.' };
      return { ...routes, [token]: (asked) => (isEnded ? { json: error } : (routes[token]?.(asked) ?? {})) };
    });
    const test = await UpstreamTest.start(github(registration), standIn);
    const { tokens } = await test.logIn();
    isEnded = true;
    expect((await test.refresh(tokens)).status).toBe(400);
    await expect(test.check(tokens.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('fails a login with the wrong secret, and tells the operator why', async () => {
    const { test } = await setUp({}, { clientSecret: 'another secret' });
    expect((await test.logIn()).error).toBe('temporarily_unavailable');
    expect(test.logs.join()).toMatch(/incorrect_client_credentials/);
    expect(test.logs.join()).not.toContain('another secret');
  });

  it('revokes the token when the login ends', async () => {
    const { standIn, test } = await setUp();
    await test.revoke((await test.logIn()).tokens);
    await until('the revocation', () => standIn.to(CHECK).some(({ method }) => method === 'DELETE'));
    expect(test.logs).toEqual([]);
  });

  it.each([
    ['https://github.example.com', undefined, 'https://github.example.com/api/v3'],
    ['https://github.example.com/', 'https://api.example.com/', 'https://api.example.com'],
    ['https://example.ghe.com', undefined, 'https://api.example.ghe.com'],
  ])('logs in at %s, whose API is at its place', async (url, apiUrl, api) => {
    const site = url.replace(/\/$/, '');
    const { test } = await setUp({ site, api }, { url, apiUrl });
    expect((await test.logIn()).auth).toMatchObject({ issuer: `${site}/login/oauth`, subject: '583231' });
  });

  it('refuses options that cannot work', () => {
    const wrong = (options: object) => () => github({ ...registration, ...options } as GithubUpstreamOptions);
    expect(wrong({ clientId: undefined })).toThrow(/github: `clientId` must be a string/);
    expect(wrong({ clientSecret: '' })).toThrow(/github: `clientSecret`/);
    expect(wrong({ url: 'github.com' })).toThrow(/github: `url` must be a URL/);
    expect(wrong({ apiUrl: 'http://api.example.com' })).toThrow(/github: `apiUrl` must be a URL with https/);
    expect(wrong({ authentication: 'none' })).toThrow(/authentication/);
  });
});
