import { discord } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';
import { type DiscordFacts, discordRoutes } from '../../../../support/oauth/upstreams/discord.js';
import { CALLBACK, UpstreamTest } from '../../../../support/oauth/upstreams/login.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../../../support/oauth/upstreams/stand-in.js';
import { until } from '../../../../support/until.js';

type DiscordUpstreamOptions = Parameters<typeof discord>[0];

const registration = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const TOKEN = 'https://discord.com/api/oauth2/token';

async function setUp(facts: DiscordFacts = {}, options: Partial<DiscordUpstreamOptions> = {}) {
  const standIn = await UpstreamStandIn.start(discordRoutes(facts));
  return { standIn, test: await UpstreamTest.start(discord({ ...registration, ...options }), standIn) };
}

describe('discord', () => {
  it('logs a user in, whom its API names, and sends only what Discord knows', async () => {
    const { standIn, test } = await setUp();
    expect((await test.logIn()).auth).toMatchObject({
      issuer: 'https://discord.com',
      subject: '268473310986240001',
      email: 'ann@example.com',
      claims: { username: 'discord', name: 'Discord' },
    });
    const [asked] = standIn.to('https://discord.com/oauth2/authorize');
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      scope: 'identify email',
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      state: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    });
    const [token] = standIn.to(TOKEN);
    expect([...(token?.form.keys() ?? [])].sort()).toEqual([
      'code',
      'code_verifier',
      'grant_type',
      'redirect_uri',
    ]);
    // Its two documents contradict each other, so that neither is read.
    expect(standIn.asked.filter(({ path }) => path.includes('.well-known'))).toEqual([]);
  });

  it('has an email address only if Discord has verified it and the scope was asked for', async () => {
    expect((await (await setUp({ user: { verified: false } })).test.logIn()).auth.email).toBeUndefined();
    const { standIn, test } = await setUp({}, { scopes: ['guilds'] });
    expect((await test.logIn()).auth.email).toBeUndefined();
    const [asked] = standIn.to('https://discord.com/oauth2/authorize');
    expect(asked?.query.get('scope')).toBe('identify guilds');
  });

  it('refuses a token of another application, and a profile of another user', async () => {
    const foreign = await setUp({ application: '1' });
    expect((await foreign.test.logIn()).error).toBe('temporarily_unavailable');
    expect(foreign.test.logs.join()).toMatch(/another application/);
    const other = await setUp({ owner: '1' });
    expect((await other.test.logIn()).error).toBe('temporarily_unavailable');
    expect(other.test.logs.join()).toMatch(/another user/);
  });

  it('refreshes with the newest refresh token, and revokes at the end', async () => {
    const { standIn, test } = await setUp({ expiresIn: 1 });
    const { tokens } = await test.logIn();
    const first = await test.refresh(tokens);
    const second = await test.refresh(first.tokens);
    expect([first.status, second.status]).toEqual([200, 200]);
    const used = standIn.to(TOKEN).map(({ form }) => form.get('refresh_token'));
    expect(new Set(used).size).toBe(3);
    await test.revoke(second.tokens);
    await until('the revocation', () => standIn.to(`${TOKEN}/revoke`).length === 1);
    expect(test.logs).toEqual([]);
  });

  it('refuses options that cannot work', () => {
    const wrong = (options: object) => () =>
      discord({ ...registration, ...options } as DiscordUpstreamOptions);
    expect(wrong({ clientSecret: undefined })).toThrow(/discord: `clientSecret`/);
    expect(wrong({ guild: '1' })).toThrow(/guild/);
  });
});
