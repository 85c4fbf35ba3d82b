import { createHash, randomBytes } from 'node:crypto';
import type { Auth, Store } from 'fullmcp';
import {
  type OAuthProxy,
  type OAuthProxyOptions,
  oauthProxy,
  type SafeFetch,
  type UpstreamProvider,
} from 'fullmcp/oauth-proxy';
import { nextOf, type Tokens } from './proxy-flow.js';

// One process with a proxy, and a provider in memory behind it. No port is opened.

export const ISSUER = 'https://mcp.example.com';
export const REDIRECT = 'https://app.example.com/callback';
export const OLD_SECRET = 'an old secret, with at least 32 characters';
export const NEW_SECRET = 'a new secret, with at least 32 characters';

/** A provider in memory: its codes and refresh tokens work once. */
export class FakeProvider {
  readonly requests: string[] = [];
  /** The verifiers that were sent with codes. */
  readonly verifiers: (string | null)[] = [];
  readonly #refreshTokens = new Set<string>();
  /** The lifetime of the access tokens that it issues. */
  expiresIn: number | undefined = 3600;
  /** Whether it replies with errors. */
  isDown = false;
  /** Whether it refuses all refresh tokens. */
  isRevoked = false;
  /** Whether it issues refresh tokens. */
  hasRefreshTokens = true;
  #count = 0;

  readonly fetch: SafeFetch = async (url, init = {}) => {
    const form = new URLSearchParams(String(init.body ?? ''));
    const path = new URL(url).pathname;
    this.requests.push(form.get('grant_type') ?? path);
    const reply = (status: number, body: object) => Response.json(body, { status });
    if (path !== '/token') return reply(200, {});
    if (form.has('code')) this.verifiers.push(form.get('code_verifier'));
    if (this.isDown) return reply(503, {});
    // Others get their turn while the provider works.
    await new Promise((resolve) => setImmediate(resolve));
    if (
      form.get('grant_type') === 'refresh_token' &&
      (this.isRevoked || !this.#refreshTokens.delete(form.get('refresh_token') ?? ''))
    )
      return reply(400, { error: 'invalid_grant' });
    const refreshToken = `upstream-refresh-${++this.#count}`;
    this.#refreshTokens.add(refreshToken);
    return reply(200, {
      access_token: `upstream-access-${this.#count}`,
      token_type: 'Bearer',
      expires_in: this.expiresIn,
      ...(this.hasRefreshTokens && { refresh_token: refreshToken }),
    });
  };

  readonly provider: UpstreamProvider = {
    name: 'Fake',
    issuer: 'https://provider.example.com',
    clientId: 'proxy',
    clientSecret: 'a secret',
    endpoints: {
      authorization: 'https://provider.example.com/authorize',
      token: 'https://provider.example.com/token',
      revocation: 'https://provider.example.com/revoke',
    },
    scopes: ['read'],
    identify: () => ({
      issuer: 'https://provider.example.com',
      subject: 'alice',
      email: 'alice@example.com',
    }),
  };

  count(grantType: string): number {
    return this.requests.filter((one) => one === grantType).length;
  }
}

/** One process of the server. */
export class Replica {
  readonly proxy: OAuthProxy;
  readonly logs: string[];

  constructor(proxy: OAuthProxy, logs: string[]) {
    this.proxy = proxy;
    this.logs = logs;
  }

  static async start(
    store: Store,
    upstream: FakeProvider,
    {
      secrets = [OLD_SECRET],
      ...options
    }: Partial<OAuthProxyOptions> & { readonly secrets?: readonly string[] } = {},
  ): Promise<Replica> {
    const proxy = oauthProxy({
      upstream: upstream.provider,
      publicUrl: `${ISSUER}/mcp`,
      fetch: upstream.fetch,
      recheckMs: 1,
      ...options,
    });
    const shared = { server: 'contract', store, bus: () => undefined, eventLog: () => undefined };
    const logs: string[] = [];
    await proxy.start?.({ shared, secrets, log: (...entry) => void logs.push(entry.map(String).join(' ')) });
    return new Replica(proxy, logs);
  }

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.proxy.handle?.(new Request(`${ISSUER}${path}`, init));
    if (response === undefined) throw new Error(`Nobody answers ${path}.`);
    return response;
  }

  post(path: string, form: Readonly<Record<string, string>>, cookie = ''): Promise<Response> {
    return this.send(path, { method: 'POST', body: new URLSearchParams(form), headers: { cookie } });
  }

  async register(metadata: object = {}): Promise<string> {
    const body = JSON.stringify({ redirect_uris: [REDIRECT], ...metadata });
    const response = await this.send('/register', { method: 'POST', body });
    const { client_id: id } = (await response.json()) as { readonly client_id?: string };
    if (id === undefined) throw new Error(`registration: ${response.status}`);
    return id;
  }

  /** Opens the consent page. */
  async openConsent(clientId: string, { cookie: own = '', ...more }: Readonly<Record<string, string>> = {}) {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
    const reply = await this.send(`/authorize?${query}`, { headers: { cookie: own } });
    const set = reply.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
    const page = await reply.text();
    const [, request = ''] = /name="request" value="([^"]*)"/.exec(page) ?? [];
    return { reply, page, request, verifier, cookie: own === '' ? set.join('; ') : own };
  }

  /** Allows the access. Returns the address of the provider. */
  async allow(request: string, cookie: string): Promise<URL> {
    const reply = await this.post('/consent', { request, decision: 'allow' }, cookie);
    return new URL(nextOf(await reply.text()));
  }

  /** Comes back from the provider. */
  back(state: string | null, cookie: string, code = 'the code of the provider'): Promise<Response> {
    const query = new URLSearchParams({ state: state ?? '', code });
    return this.send(`/callback?${query}`, { headers: { cookie } });
  }

  check(token: string): Promise<Auth | undefined> {
    return Promise.resolve(
      this.proxy.check({
        method: 'POST',
        url: `${ISSUER}/mcp`,
        remoteAddress: undefined,
        header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
      }),
    );
  }

  refresh(clientId: string, refreshToken: string): Promise<Response> {
    return this.post('/token', {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
    });
  }
}

/** The replicas that serve the steps of one login. */
export type Steps = readonly [register: Replica, authorize: Replica, consent: Replica, callback: Replica];

/** A login until its code. Each step is served by another replica. */
export async function codeOf([first, second, third, fourth]: Steps) {
  const clientId = await first.register();
  const { cookie, request, verifier } = await second.openConsent(clientId);
  const state = (await third.allow(request, cookie)).searchParams.get('state');
  const path = `/callback?${new URLSearchParams({ state: state ?? '', code: 'the code of the provider' })}`;
  const back = await fourth.send(path, { headers: { cookie } });
  const code = new URL(back.headers.get('location') as string).searchParams.get('code') as string;
  const form = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: REDIRECT };
  return { clientId, cookie, path, form: { ...form, code, code_verifier: verifier } };
}

export async function tokensOf(replica: Replica, steps: Steps = [replica, replica, replica, replica]) {
  const { clientId, form } = await codeOf(steps);
  const tokens = (await (await replica.post('/token', form)).json()) as Tokens;
  return { clientId, ...tokens };
}
