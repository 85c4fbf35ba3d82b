import { createHash, randomBytes } from 'node:crypto';

// A client and a browser that do every step of a login by hand, so that a test can do one of them differently.

/** The cookies of one browser. */
export class Browser {
  /** The name that the user logs in with. */
  readonly user: string;
  readonly #cookies = new Map<string, string>();

  constructor(user = 'alice') {
    this.user = user;
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** Sends a request without following redirects. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const own = [...this.#cookies].filter(([key]) => key.startsWith(`${host} `));
    const cookie = own.map(([key, value]) => `${key.slice(host.length + 1)}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (value === '') this.#cookies.delete(`${host} ${name}`);
      else this.#cookies.set(`${host} ${name}`, value);
    }
    return response;
  }

  post(
    url: string,
    form: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.fetch(url, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  /** Follows redirects and submits the forms of the provider, until `stop` says so. Returns the URL that is not opened. */
  async follow(url: string, stop: (url: URL) => boolean): Promise<string> {
    let next = url;
    let form: Record<string, string> | undefined;
    for (let step = 0; step < 20; step++) {
      if (form === undefined && stop(new URL(next))) return next;
      const response: Response = form === undefined ? await this.fetch(next) : await this.post(next, form);
      form = undefined;
      const location = response.headers.get('location');
      if (location !== null) {
        next = new URL(location, next).href;
        continue;
      }
      const page = await response.text();
      const [, action, body = ''] = /<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? [];
      if (action === undefined)
        throw new Error(`No form at ${next}: ${response.status} ${page.slice(0, 2000)}`);
      next = new URL(action.replaceAll('&amp;', '&'), next).href;
      form = {};
      for (const [input] of body.matchAll(/<input[^>]*>/g)) {
        const [, name] = /name="([^"]*)"/.exec(input) ?? [];
        const [, value] = /value="([^"]*)"/.exec(input) ?? [];
        if (name !== undefined) form[name] = value ?? this.user;
      }
    }
    throw new Error('The login does not end.');
  }
}

/** The parameters of a request for authorization, and the verifier for its code. */
export interface Attempt {
  readonly parameters: Readonly<Record<string, string>>;
  readonly verifier: string;
}

export const REDIRECT_URI = 'https://app.example.com/callback';

/** The tokens of a reply of the token endpoint. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
}

/** The steps of a login at one proxy. */
export class ProxyFlow {
  readonly base: string;
  clientId = '';

  /** @param base The issuer. */
  constructor(base: string) {
    this.base = base;
  }

  async register(metadata: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const response = await fetch(`${this.base}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Test program', redirect_uris: [REDIRECT_URI], ...metadata }),
    });
    const body = (await response.json()) as { readonly client_id?: string };
    if (response.status !== 201) throw new Error(`registration: ${response.status} ${JSON.stringify(body)}`);
    this.clientId = body.client_id as string;
    return this.clientId;
  }

  attempt(more: Readonly<Record<string, string | undefined>> = {}): Attempt {
    const verifier = randomBytes(32).toString('base64url');
    const parameters = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: REDIRECT_URI,
      state: 'the state of the client',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    };
    const present = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
    return { parameters: Object.fromEntries(present), verifier };
  }

  authorizeUrl({ parameters }: Attempt): string {
    return `${this.base}/authorize?${new URLSearchParams(parameters)}`;
  }

  /** Opens the consent page. Returns the sealed request in its form. */
  async openConsent(browser: Browser, attempt: Attempt): Promise<string> {
    const response = await browser.fetch(this.authorizeUrl(attempt));
    const page = await response.text();
    const [, sealed] = /name="request" value="([^"]*)"/.exec(page) ?? [];
    if (sealed === undefined) throw new Error(`No consent page: ${response.status} ${page.slice(0, 3000)}`);
    return sealed;
  }

  /** Allows the access. Returns the address of the provider's login. */
  async allow(
    browser: Browser,
    attempt: Attempt,
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const request = await this.openConsent(browser, attempt);
    const response = await browser.post(`${this.base}/consent`, { request, decision: 'allow', ...more });
    return nextOf(await response.text());
  }

  /** Logs in at the provider. Returns the address of our callback, not opened yet. */
  logIn(browser: Browser, upstreamUrl: string): Promise<string> {
    return browser.follow(upstreamUrl, (url) => url.href.startsWith(`${this.base}/callback?`));
  }

  /** A login to its end. Returns the parameters that the client gets. */
  async complete(browser: Browser, attempt: Attempt): Promise<URLSearchParams> {
    const callback = await this.logIn(browser, await this.allow(browser, attempt));
    const location = (await browser.fetch(callback)).headers.get('location');
    return new URL(location as string).searchParams;
  }

  async post(endpoint: string, form: Readonly<Record<string, string | undefined>>): Promise<Response> {
    const present = Object.entries(form).filter((one): one is [string, string] => one[1] !== undefined);
    return fetch(`${this.base}/${endpoint}`, { method: 'POST', body: new URLSearchParams(present) });
  }

  redeem(
    code: string,
    verifier: string,
    more: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Response> {
    return this.post('token', {
      grant_type: 'authorization_code',
      client_id: this.clientId,
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
      ...more,
    });
  }

  refresh(token: string, more: Readonly<Record<string, string | undefined>> = {}): Promise<Response> {
    return this.post('token', {
      grant_type: 'refresh_token',
      client_id: this.clientId,
      refresh_token: token,
      ...more,
    });
  }

  /** Registers, logs in, and redeems the code. */
  async tokens(browser = new Browser(), more: Readonly<Record<string, string>> = {}): Promise<Tokens> {
    if (this.clientId === '') await this.register();
    const attempt = this.attempt(more);
    const code = (await this.complete(browser, attempt)).get('code') as string;
    const response = await this.redeem(code, attempt.verifier);
    if (response.status !== 200) throw new Error(`token: ${response.status} ${await response.text()}`);
    return (await response.json()) as Tokens;
  }
}

/** The address that a page leads on to. */
export function nextOf(page: string): string {
  const [, next] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(page) ?? [];
  if (next === undefined) throw new Error(`The page leads nowhere: ${page.slice(0, 3000)}`);
  return next.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
}

/** The status of a call of a tool with an access token. */
export async function callWith(
  url: string,
  token: string,
  name = 'me',
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        },
      },
    }),
  });
  const body = await response.text();
  const [, text = body] = /"text":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return { status: response.status, text: text.startsWith('"') ? (JSON.parse(text) as string) : text };
}
