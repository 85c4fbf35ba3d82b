import type { AuthHeaders, ChallengedRequest, OAuthClient, SafeFetch } from 'fullmcp/oauth';

// An MCP server and its authorization server in memory, driven at the seam of `ClientAuth`, so that a test can let either of them lie.

export const SERVER = 'https://mcp.example.com/mcp';
export const ISSUER = 'https://as.example.com';

type Reply = Response | Promise<Response>;

/** The authorization server. Its refresh tokens work once. */
export class FakeWorld {
  /** The request: the path, and the parameters of a form. */
  readonly seen: { readonly path: string; readonly form: URLSearchParams }[] = [];
  /** More members of the metadata. */
  metadata: Record<string, unknown> = {};
  resourceMetadata: Record<string, unknown> = {};
  /** Replies of one's own, by path. Undefined: the usual reply. */
  readonly replies = new Map<string, (form: URLSearchParams) => Reply | undefined>();
  /** The access tokens that the MCP server accepts. */
  readonly valid = new Set<string>();
  expiresIn: number | undefined = 3600;
  readonly #refreshTokens = new Set<string>();
  #count = 0;

  readonly fetch: SafeFetch = async (url, init = {}) => {
    const { pathname: path } = new URL(url);
    const form = new URLSearchParams(typeof init.body === 'string' ? '' : String(init.body ?? ''));
    this.seen.push({ path, form });
    // Others get their turn.
    await new Promise((resolve) => setImmediate(resolve));
    const own = this.replies.get(path)?.(form);
    if (own !== undefined) return own;
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: SERVER, authorization_servers: [ISSUER], ...this.resourceMetadata });
    if (path.startsWith('/.well-known/')) return Response.json({ ...this.#usual(), ...this.metadata });
    if (path === '/register') return Response.json({ client_id: `client-${++this.#count}` }, { status: 201 });
    if (path === '/device')
      return Response.json({
        device_code: 'the device code',
        user_code: 'ABCD-EFGH',
        verification_uri: `${ISSUER}/enter`,
        expires_in: 600,
      });
    if (path === '/revoke') return new Response(null, { status: 200 });
    return path === '/token' ? this.#tokens(form) : new Response(null, { status: 404 });
  };

  /** The number of requests to a path, or of a grant. */
  count(what: string): number {
    return this.seen.filter(({ path, form }) => path === what || form.get('grant_type') === what).length;
  }

  /** Logs the user in at once. */
  readonly authorize = async ({ url }: { readonly url: string }): Promise<string> => {
    const sent = new URL(url).searchParams;
    const query = new URLSearchParams({ code: 'the code', state: sent.get('state') ?? '', iss: ISSUER });
    return `${sent.get('redirect_uri')}?${query}`;
  };

  /** One request to the MCP server, with as many retries as `auth` wants. Resolves to the status, and the number of attempts. */
  async call(
    auth: OAuthClient,
    challenge = 'Bearer',
    statusOf = (token: string | undefined): number => (this.valid.has(token ?? '') ? 200 : 401),
  ): Promise<{ readonly status: number; readonly attempts: number }> {
    const request = {
      server: SERVER,
      url: SERVER,
      method: 'POST',
      mayAsk: true,
      signal: new AbortController().signal,
      pauseTimeouts: <T>(work: () => Promise<T>) => work(),
    };
    for (let attempts = 1; ; attempts++) {
      const headers: AuthHeaders = await auth.headersFor(request);
      const status = statusOf(headers['authorization']?.replace(/^\w+ /, ''));
      const sent: ChallengedRequest = { ...request, headers };
      const reply = {
        status,
        header: (name: string) => (name === 'www-authenticate' && status > 400 ? challenge : undefined),
      };
      if (status === 200) auth.onReply?.(reply, sent);
      if (status === 200 || attempts > 100 || (await auth.onChallenge(reply, sent)) === 'fail')
        return { status, attempts };
    }
  }

  #usual(): Record<string, unknown> {
    return {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      registration_endpoint: `${ISSUER}/register`,
      device_authorization_endpoint: `${ISSUER}/device`,
      revocation_endpoint: `${ISSUER}/revoke`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #tokens(form: URLSearchParams): Response {
    const isRefresh = form.get('grant_type') === 'refresh_token';
    if (isRefresh && !this.#refreshTokens.delete(form.get('refresh_token') ?? ''))
      return Response.json({ error: 'invalid_grant' }, { status: 400 });
    const count = ++this.#count;
    this.valid.clear();
    this.valid.add(`access-token-${count}`);
    this.#refreshTokens.add(`refresh-token-${count}`);
    return Response.json({
      access_token: `access-token-${count}`,
      refresh_token: `refresh-token-${count}`,
      token_type: 'Bearer',
      expires_in: this.expiresIn,
    });
  }
}
