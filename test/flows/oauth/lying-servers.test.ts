import { memoryTokenStore, type OAuthEvent, type OAuthOptions, oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpError } from '../../../src/protocol/errors.js';
import { failureOf } from '../../support/failure.js';
import { FakeWorld, ISSUER } from '../../support/oauth/fake-world.js';

afterEach(() => {
  vi.useRealTimers();
});

function setUp(more: OAuthOptions = {}) {
  const world = new FakeWorld();
  const events: OAuthEvent[] = [];
  const auth = oauth({
    fetch: world.fetch,
    onEvent: (event) => events.push(event),
    ...(more.flow !== 'device' && {
      redirectUri: 'http://127.0.0.1:9/callback',
      authorize: world.authorize,
    }),
    ...more,
  });
  return { world, events, auth };
}

describe('oauth with an MCP server that never stops refusing', () => {
  it.each([
    ['the same challenge', () => 'Bearer error="invalid_token"'],
    ['another scope each time', (n: number) => `Bearer error="invalid_token", scope="scope-${n}"`],
  ])('gives up after a few logins on a 401 with %s', async (_, challengeOf) => {
    const { world, auth } = setUp();
    let n = 0;
    // Each request is refused, and the program tries again and again.
    for (let i = 0; i < 5; i++)
      await world.call(auth, challengeOf(++n), () => 401).catch((error: unknown) => error);
    expect(world.count('authorization_code')).toBeGreaterThan(0);
    expect(world.count('authorization_code')).toBeLessThanOrEqual(3);
    expect(world.seen.length).toBeLessThan(100);
  });

  it('gives up after a few logins on a 403 that asks for another scope each time', async () => {
    const { world, auth } = setUp();
    await world.call(auth);
    let n = 0;
    for (let i = 0; i < 5; i++)
      await world
        .call(auth, `Bearer error="insufficient_scope", scope="scope-${++n}"`, () => 403)
        .catch((error: unknown) => error);
    expect(world.count('authorization_code')).toBeLessThanOrEqual(4);
  });

  it('does not print a token that the server repeats in its refusal', async () => {
    const { world, events, auth } = setUp();
    let sent = '';
    const failures: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const challenge = `Bearer error="invalid_token", error_description="${'x'.repeat(290)} ${sent} is bad"`;
      await world
        .call(auth, challenge, (token = '') => {
          sent = token;
          return 401;
        })
        .catch((error: unknown) => failures.push(error));
    }
    const [failure] = failures as McpError[];
    expect(failure?.message).toContain('does not accept the token');
    expect(sent).toMatch(/^access-token/);
    expect(JSON.stringify([failures.map(String), events])).not.toMatch(/access-|refresh-/);
  });
});

describe('oauth with an authorization server that repeats secrets', () => {
  const secret = 'quo"ted \\ and spaced + secret';
  const registered = { clientId: 'known', clientSecret: secret, issuer: ISSUER };
  const long = 'x'.repeat(290);

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret)],
    ['as part of a URL', encodeURIComponent(secret)],
    ['as part of a form', String(new URLSearchParams({ secret }))],
    ['where the message is cut', `${long}${secret}`],
  ])('prints none of it, if it comes back %s', async (_, text) => {
    const { world, events, auth } = setUp({ registered });
    world.replies.set('/token', () =>
      Response.json({ error: `bad ${text}`, error_description: text }, { status: 400 }),
    );
    const failure = await failureOf(McpError, world.call(auth));
    const printed = JSON.stringify([failure.message, failure.data, failure.cause, events]);
    expect(printed).toContain('…');
    expect(printed).not.toMatch(/quo|spaced/);
  });

  it('bounds the error that a program sees', async () => {
    const { world, auth } = setUp({ registered });
    world.replies.set('/token', () => Response.json({ error: 'x'.repeat(500_000) }, { status: 400 }));
    const failure = await failureOf(McpError, world.call(auth));
    expect(failure.message.length).toBeLessThan(1000);
    expect(JSON.stringify(failure.data).length).toBeLessThan(300);
  });
});

describe('oauth with an authorization server that changes', () => {
  it('does not send the refresh token when its metadata is suddenly that of another issuer', async () => {
    const { world, auth } = setUp();
    await world.call(auth);
    world.metadata = { issuer: 'https://evil.example', token_endpoint: 'https://evil.example/token' };
    world.valid.clear();
    const failure = await failureOf(McpError, world.call(auth));
    expect(failure.message).toContain('https://evil.example');
    expect(world.count('refresh_token')).toBe(0);
  });

  it('does not send the refresh token to another server that the MCP server names now, where the client id is the same', async () => {
    const metadata = { client_id_metadata_document_supported: true };
    const { world, auth } = setUp({ clientMetadataUrl: 'https://app.example.com/client.json' });
    world.metadata = metadata;
    await world.call(auth);
    const evil = 'https://evil.example';
    world.resourceMetadata = { authorization_servers: [evil] };
    world.metadata = { ...metadata, issuer: evil, token_endpoint: `${evil}/token` };
    world.valid.clear();
    // The user logs in there, whose redirect names the old issuer.
    await failureOf(McpError, world.call(auth));
    expect(world.count('refresh_token')).toBe(0);
    expect(world.count('authorization_code')).toBe(1);
  });

  it('uses for a code the token endpoint that was there when the login began', async () => {
    const world = new FakeWorld();
    const auth = oauth({
      fetch: world.fetch,
      redirectUri: 'http://127.0.0.1:9/callback',
      authorize: (request) => {
        world.metadata = { token_endpoint: `${ISSUER}/stolen` };
        return world.authorize(request);
      },
    });
    await world.call(auth);
    expect(world.count('/stolen')).toBe(0);
    expect(world.count('/token')).toBe(1);
  });

  it('keeps tokens with an impossible lifetime', async () => {
    const store = memoryTokenStore();
    const { world, auth } = setUp({ store });
    world.expiresIn = Number.MAX_VALUE;
    await world.call(auth);
    const again = oauth({ fetch: world.fetch, store });
    expect(await world.call(again)).toMatchObject({ status: 200, attempts: 1 });
  });

  it('tells no event the query of an address', async () => {
    const { world, events, auth } = setUp();
    await world.call(
      auth,
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource?key=hidden"',
    );
    expect(events.map(({ type }) => type)).toContain('tokens');
    const others = events.filter(({ type }) => type !== 'authorize');
    expect(JSON.stringify(others)).not.toMatch(/hidden|the code|access-|refresh-/);
  });
});

describe('oauth with a code for another device', () => {
  function device(replies: readonly (string | undefined)[]) {
    const { world, events, auth } = setUp({ flow: 'device' });
    const polls: number[] = [];
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const begin = Date.now();
    world.replies.set('/token', () => {
      polls.push(Math.round((Date.now() - begin) / 1000));
      const error = replies[Math.min(polls.length, replies.length) - 1];
      return error === undefined ? undefined : Response.json({ error }, { status: 400 });
    });
    const call = world.call(auth).catch((error: unknown) => error as McpError);
    const ended = async () => {
      const isOver = { value: false };
      void call.finally(() => {
        isOver.value = true;
      });
      for (let i = 0; i < 2000 && !isOver.value; i++) await vi.advanceTimersByTimeAsync(1000);
      return call;
    };
    return { world, events, polls, ended };
  }

  it('asks in the interval that the server wants, and less often when the server says so', async () => {
    const pending = 'authorization_pending';
    const { polls, ended } = device([pending, 'slow_down', pending, 'slow_down', undefined]);
    expect(await ended()).toMatchObject({ status: 200 });
    // On a busy machine, a second may pass while a request is under way.
    const pauses = polls.slice(1).map((at, i) => at - (polls[i] as number));
    expect(pauses.map((seconds) => Math.floor(seconds / 5) * 5)).toEqual([5, 10, 10, 15]);
  });

  it.each(['access_denied', 'expired_token'])('ends at once when the server says %s', async (error) => {
    const { polls, ended } = device([error]);
    expect(await ended()).toMatchObject({ data: { hop: 'token', error } });
    expect(polls).toHaveLength(1);
  });

  it('ends when the code has expired, or the user took too long, though the server says nothing', async () => {
    const { world, ended } = device(['authorization_pending']);
    world.replies.set('/device', () => deviceReply({ expires_in: 60 }));
    expect(((await ended()) as McpError).message).toContain('did not enter the code in time');
    const slow = device(['authorization_pending']);
    expect(((await slow.ended()) as McpError).message).toContain('within 300 seconds');
  });

  it.each([
    ['0.001', 300],
    ['1e300', 0],
    ['2147484', 0],
  ])('does not flood a server that names the interval %s', async (interval, most) => {
    const { world, polls, ended } = device(['authorization_pending']);
    world.replies.set('/device', () => deviceReply({ interval: Number(interval) }));
    await ended();
    expect(polls.length).toBeLessThanOrEqual(most);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://as.example.com/enter',
    'https://169.254.169.254/',
  ])('does not show the user %s as the address to open', async (address) => {
    for (const name of ['verification_uri', 'verification_uri_complete']) {
      const { world, events, polls, ended } = device([undefined]);
      world.replies.set('/device', () => deviceReply({ [name]: address }));
      expect(((await ended()) as McpError).message).toContain('must not be opened');
      expect([polls.length, events.some(({ type }) => type === 'device code')]).toEqual([0, false]);
    }
  });

  function deviceReply(more: object): Response {
    return Response.json({
      device_code: 'the device code',
      user_code: 'ABCD-EFGH',
      verification_uri: `${ISSUER}/enter`,
      expires_in: 600,
      ...more,
    });
  }
});
