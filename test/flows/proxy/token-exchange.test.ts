import { createServer, McpError, tool } from 'fullmcp';
import { mintToken, sharedSecretJwt } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { type ExchangeTokenOptions, exchangeToken } from 'fullmcp/oauth';
import { type ProxyOptions, proxy } from 'fullmcp/proxy';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { BASIC, CLIENT, ExchangeServer, ISSUER, SECRET } from '../../support/oauth/exchange-server.js';
import { until } from '../../support/until.js';

// A proxy whose callers' tokens are exchanged for tokens of the server behind it.

const BEHIND = 'https://behind.example/mcp';
const AUDIENCE = 'https://proxy.example/mcp';

function tokenOf(subject: string): Promise<string> {
  return mintToken({ sub: subject }, { secret: SECRET, issuer: ISSUER, audience: AUDIENCE });
}

interface Setup extends Pick<ProxyOptions, 'revision'> {
  readonly options?: Partial<ExchangeTokenOptions>;
}

async function setUp({ revision, options = {} }: Setup = {}) {
  const authorization = await new ExchangeServer(BEHIND).open();
  onTestFinished(() => authorization.close());
  const seen: string[] = [];
  const refused = new Set<string>();
  const quiet = { logger: () => undefined };
  const who = (header: string | undefined) => header?.slice('Bearer '.length) ?? 'nobody';
  const server = createServer({
    ...{ name: 'behind', version: '1', ...quiet },
    use: [
      async (call, next) => {
        if (call.method !== 'tools/call') return next(call);
        const text = who(call.http?.header('authorization'));
        return { resultType: 'complete', content: [{ type: 'text', text }] };
      },
    ],
    tools: { who: tool({ run: () => '' }) },
  });
  const behind = await serve(server, {
    ...{ port: 0, signals: false },
    auth: (request) => {
      const token = who(request.headers.authorization);
      seen.push(token);
      if (refused.has(token)) throw new McpError('unauthorized', 'This token was revoked.');
      return { subject: token };
    },
  });
  onTestFinished(() => behind.close());
  const logged: string[] = [];
  const identity = exchangeToken({
    ...{ issuer: authorization.url, ...CLIENT, resource: BEHIND, scopes: ['read', 'write'] },
    logger: (...message) => logged.push(JSON.stringify(message)),
    ...options,
  });
  const between = proxy(behind.url, { identity, auth: 'own', ...quiet, ...(revision && { revision }) });
  const auth = sharedSecretJwt({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE, optional: true });
  const serving = await serve(between, { port: 0, signals: false, auth });
  onTestFinished(() => serving.close());
  const { url } = serving;
  const call = async (token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const reply = await modern(url, 'tools/call', { name: 'who', arguments: {} }, { headers });
    return { ...reply, content: JSON.parse(reply.text).result?.content?.[0]?.text as string | undefined };
  };
  return { authorization, behind, url, seen, refused, logged, call };
}

describe('a proxy that exchanges tokens', () => {
  it.each(['2026-07-28', '2025-11-25'] as const)(
    'calls a server of %s with the exchanged token of each caller, and never with another one',
    async (revision) => {
      const { authorization, url, seen } = await setUp({ revision });
      const tokens = await Promise.all(['ada', 'ben'].map(tokenOf));
      const names = await Promise.all(
        tokens.map(async (token) => {
          await using client = await connect(url, { auth: token });
          const all = await Promise.all(Array.from({ length: 5 }, () => client.callTool('who')));
          return new Set(all.map(({ text }) => text.split('-', 2).join('-')));
        }),
      );
      expect(names).toEqual([new Set(['behind-ada']), new Set(['behind-ben'])]);
      expect(authorization.exchanged.toSorted()).toEqual(['ada', 'ben']);
      expect(seen.every((token) => token.startsWith('behind-'))).toBe(true);
    },
  );

  it('exchanges a token once for twenty calls at the same time, and takes the endpoint without metadata', async () => {
    const { authorization: other } = await setUp();
    const { authorization, call } = await setUp({ options: { tokenEndpoint: `${other.url}/token` } });
    const token = await tokenOf('ada');
    const replies = await Promise.all(Array.from({ length: 20 }, () => call(token)));
    expect(new Set(replies.map(({ content }) => content))).toEqual(new Set(['behind-ada-1']));
    expect([other.exchanged, authorization.exchanged]).toEqual([['ada'], []]);
  });

  it('exchanges another token of the same caller anew', async () => {
    const { call, authorization } = await setUp();
    const mint = (jti: string) =>
      mintToken({ sub: 'ada', jti }, { secret: SECRET, issuer: ISSUER, audience: AUDIENCE });
    expect((await call(await mint('1'))).content).toBe('behind-ada-1');
    expect((await call(await mint('2'))).content).toBe('behind-ada-2');
    expect(authorization.exchanged).toEqual(['ada', 'ada']);
  });

  it('refuses callers without a token, and does not call the server as itself', async () => {
    const { call, authorization, seen } = await setUp();
    const { status, text } = await call();
    expect([status, text]).toEqual([401, expect.stringContaining('bearer token')]);
    expect([authorization.exchanged, seen]).toEqual([[], []]);
  });

  it('exchanges again if the server behind refuses a token that was accepted, and gives up after a new one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { call, refused, authorization } = await setUp();
    const token = await tokenOf('ada');
    await call(token);
    vi.advanceTimersByTime(6000);
    refused.add('behind-ada-1');
    expect((await call(token)).content).toBe('behind-ada-2');
    refused.add('behind-ada-2');
    expect((await call(token)).status).toBe(401);
    expect(authorization.exchanged).toHaveLength(2);
  });

  it.each([
    { name: 'invalid_grant', answer: { status: 400, body: { error: 'invalid_grant' } }, status: 401 },
    { name: 'invalid_request', answer: { status: 400, body: { error: 'invalid_request' } }, status: 401 },
    { name: 'invalid_target', answer: { status: 400, body: { error: 'invalid_target' } }, status: 403 },
    { name: 'access_denied', answer: { status: 403, body: { error: 'access_denied' } }, status: 403 },
    { name: 'invalid_client', answer: { status: 401, body: { error: 'invalid_client' } }, status: 200 },
    { name: 'an outage', answer: { status: 503, body: {} }, status: 503 },
    { name: 'no token_type', answer: { status: 200, body: { access_token: 'stolen-token' } }, status: 200 },
    {
      name: 'a token that only a key may use',
      answer: { status: 200, body: { access_token: 'stolen-token', token_type: 'DPoP' } },
      status: 200,
    },
    {
      name: 'a token that would be two headers',
      answer: { status: 200, body: { access_token: 'stolen-token\r\nx: y', token_type: 'Bearer' } },
      status: 200,
    },
    { name: 'a redirect', answer: { status: 302, body: {} }, status: 200 },
  ])(
    'fails the call if the authorization server answers $name, without a token in any message',
    async (lie) => {
      const { authorization, call, seen, logged } = await setUp();
      const token = await tokenOf('ada');
      authorization.answer = () => {
        const { status, body } = lie.answer;
        return { status, body: { ...body, error_description: `of ${token} and ${CLIENT.clientSecret}` } };
      };
      const { status, text } = await call(token);
      expect(status).toBe(lie.status);
      expect(JSON.parse(text).error.message).toMatch(/token|let you use/);
      expect(seen).toEqual([]);
      expect(logged).toHaveLength(1);
      for (const secret of [token, CLIENT.clientSecret, 'stolen-token'])
        expect(`${text} ${logged.join()}`).not.toContain(secret);
      // A refused caller does not ask the authorization server with every call.
      await call(token);
      expect(authorization.exchanged).toHaveLength(status === 401 || status === 403 ? 1 : 2);
      authorization.answer = undefined;
      expect((await call(await tokenOf('ben'))).content).toMatch(/^behind-ben/);
    },
  );

  it('does not send the token of the caller to the server, whatever the authorization server answers', async () => {
    const { authorization, call, seen } = await setUp();
    authorization.answer = (_, token) => ({
      status: 200,
      body: { access_token: token, token_type: 'Bearer', expires_in: 60 },
    });
    expect(JSON.parse((await call(await tokenOf('ada'))).text).error).toBeDefined();
    expect(seen).toEqual([]);
  });

  it('stops an exchange that nobody waits for, and other callers do not wait for it', async () => {
    const { authorization, url, call } = await setUp();
    authorization.answer = (subject) => (subject === 'slow' ? new Promise(() => undefined) : undefined);
    const stop = new AbortController();
    const slow = expect(
      connect(url, { auth: await tokenOf('slow'), signal: stop.signal, revision: '2026-07-28' }),
    ).rejects.toThrow();
    await until('the exchange has begun', () => authorization.exchanged.includes('slow'));
    expect((await call(await tokenOf('ada'))).content).toMatch(/^behind-ada/);
    stop.abort();
    await slow;
    await until('the exchange is stopped', () => authorization.aborted === 1);
  });

  it('names the types of the token that it has and of the one that it asks for', async () => {
    const subjectTokenType = 'urn:ietf:params:oauth:token-type:jwt';
    const requestedTokenType = 'urn:example:token-type:behind';
    const { authorization, call } = await setUp({ options: { subjectTokenType, requestedTokenType } });
    authorization.types = { subject: subjectTokenType, requested: requestedTokenType };
    expect((await call(await tokenOf('ada'))).content).toBe('behind-ada-1');
  });
});

describe('exchangeToken', () => {
  const right = { issuer: 'https://login.example', clientId: 'proxy', resource: BEHIND };

  it('proves who the proxy is in the way that `authentication` chooses', async () => {
    const authentication = {
      method: 'of the house',
      authenticate: (_as: unknown, _client: unknown, _body: unknown, headers: Headers) =>
        headers.set('authorization', BASIC),
    };
    const { call } = await setUp({ options: { clientSecret: undefined, authentication } });
    expect((await call(await tokenOf('ada'))).content).toBe('behind-ada-1');
  });

  it('asks over http only a host that `privateHosts` names', () => {
    const issuer = 'http://login.internal:8080';
    expect(() => exchangeToken({ ...right, issuer })).toThrow('privateHosts');
    expect(exchangeToken({ ...right, issuer, privateHosts: [issuer] })).toBeTypeOf('function');
  });

  it.each([
    [{ ...right, issuer: undefined }, 'tokenEndpoint'],
    [{ ...right, issuer: 'http://login.example' }, 'https'],
    [{ ...right, clientId: '' }, 'clientId'],
    [{ ...right, resource: undefined }, 'audience'],
    [{ ...right, audience: [''] }, 'audience'],
    [{ ...right, scopes: 'read' }, 'scopes'],
    [{ ...right, maxCallers: 0 }, 'maxCallers'],
    [{ ...right, scope: 'read' }, 'scopes'],
  ])('says at once what is wrong with its options: %j', (options, word) => {
    expect(() => exchangeToken(options as never)).toThrow(word);
  });
});
