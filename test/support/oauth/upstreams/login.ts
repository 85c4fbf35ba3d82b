import { createHash, randomBytes } from 'node:crypto';
import { type Auth, memoryStore } from 'fullmcp';
import { type OAuthProxyOptions, oauthProxy, type UpstreamProvider } from 'fullmcp/oauth-proxy';
import { nextOf, type Tokens } from '../proxy-flow.js';
import type { UpstreamStandIn } from './stand-in.js';

// A client, a browser and a proxy in one process, with a stand-in for the provider behind them.

const ORIGIN = 'https://mcp.example.com';
const REDIRECT = 'https://app.example.com/callback';
export const CALLBACK = `${ORIGIN}/callback`;

/** The end of a login: tokens and the caller, or the error that the client is told. */
export interface LoginEnd {
  readonly error?: string;
  readonly tokens: Tokens;
  readonly auth: Auth;
}

/** A proxy in front of a stand-in. */
export class UpstreamTest {
  readonly logs: string[] = [];
  readonly #standIn: UpstreamStandIn;
  readonly #proxy: ReturnType<typeof oauthProxy>;
  #clientId = '';

  private constructor(
    upstream: UpstreamProvider,
    standIn: UpstreamStandIn,
    options: Partial<OAuthProxyOptions>,
  ) {
    this.#standIn = standIn;
    const { fetch } = standIn;
    this.#proxy = oauthProxy({ upstream, publicUrl: `${ORIGIN}/mcp`, fetch, recheckMs: 1, ...options });
  }

  static async start(
    upstream: UpstreamProvider,
    standIn: UpstreamStandIn,
    options: Partial<OAuthProxyOptions> = {},
  ): Promise<UpstreamTest> {
    const made = new UpstreamTest(upstream, standIn, options);
    const shared = { server: 'test', store: memoryStore(), bus: () => undefined, eventLog: () => undefined };
    const log = (level: string, message: string) => void made.logs.push(`${level}: ${message}`);
    await made.#proxy.start?.({ shared, secrets: ['x'.repeat(32)], log });
    const body = JSON.stringify({ redirect_uris: [REDIRECT] });
    const registered = await made.#send('/register', { method: 'POST', body });
    made.#clientId = ((await registered.json()) as { client_id: string }).client_id;
    return made;
  }

  /** A login until the address that the user is sent to at the provider. */
  async begin(): Promise<{ readonly url: string; readonly cookie: string; readonly verifier: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.#clientId,
      redirect_uri: REDIRECT,
      resource: `${ORIGIN}/mcp`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const page = await this.#send(`/authorize?${query}`);
    const cookie = page.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    const [, request = ''] = /name="request" value="([^"]*)"/.exec(await page.text()) ?? [];
    const left = await this.#post('/consent', { request, decision: 'allow' }, cookie);
    return { url: nextOf(await left.text()), cookie, verifier };
  }

  /** A whole login. */
  async logIn(): Promise<LoginEnd> {
    const { url, cookie, verifier } = await this.begin();
    const back = new URL(await this.#standIn.visit(url));
    const end = await this.#send(`${back.pathname}${back.search}`, { headers: { cookie } });
    const { searchParams } = new URL(end.headers.get('location') as string);
    const error = searchParams.get('error');
    if (error !== null) return { error } as LoginEnd;
    const reply = await this.#post('/token', {
      grant_type: 'authorization_code',
      client_id: this.#clientId,
      redirect_uri: REDIRECT,
      code: searchParams.get('code') as string,
      code_verifier: verifier,
    });
    const tokens = (await reply.json()) as Tokens;
    return { tokens, auth: (await this.check(tokens.access_token)) as Auth };
  }

  async check(token: string): Promise<Auth | undefined> {
    return this.#proxy.check({
      method: 'POST',
      url: `${ORIGIN}/mcp`,
      remoteAddress: undefined,
      header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
    });
  }

  /** Refreshes the client's tokens. */
  async refresh({ refresh_token }: Tokens): Promise<{ readonly status: number; readonly tokens: Tokens }> {
    const reply = await this.#post('/token', {
      grant_type: 'refresh_token',
      client_id: this.#clientId,
      refresh_token,
    });
    return { status: reply.status, tokens: (await reply.json()) as Tokens };
  }

  async revoke({ access_token: token }: Tokens): Promise<void> {
    await this.#post('/revoke', { client_id: this.#clientId, token });
  }

  upstreamToken(auth: Auth): Promise<string> {
    return this.#proxy.upstreamToken(auth);
  }

  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    return (await this.#proxy.handle?.(new Request(`${ORIGIN}${path}`, init))) as Response;
  }

  #post(path: string, form: Readonly<Record<string, string>>, cookie = ''): Promise<Response> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers: { cookie } });
  }
}
