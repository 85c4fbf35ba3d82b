import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, memoryStore, type Store, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';
import { type OAuthProxy, type OAuthProxyOptions, oauthProxy, openId } from 'fullmcp/oauth-proxy';
import Provider, { type Configuration } from 'oidc-provider';

// An MCP server behind our own authorization proxy, and a real OpenID provider behind that.

export const UPSTREAM_SECRET = 'the secret of the proxy at its provider';

/** A real OpenID provider that knows one client: the proxy. */
export interface UpstreamServer {
  readonly issuer: string;
  readonly provider: Provider;
  /** The paths and grant types of the requests. */
  readonly seen: {
    readonly path: string;
    readonly grantType: string | undefined;
    readonly query: URLSearchParams;
  }[];
  readonly count: (path: string, grantType?: string) => number;
  readonly close: () => void;
}

/** Starts the provider. */
export async function startUpstream(options: {
  readonly callbacks: readonly string[];
  readonly accessTokenSeconds?: number;
  readonly configure?: (configuration: Configuration) => Configuration;
}): Promise<UpstreamServer> {
  const { callbacks, accessTokenSeconds = 3600, configure = (same) => same } = options;
  const http = createHttpServer();
  const issuer = await listen(http);
  const configuration: Configuration = {
    clients: [
      {
        client_id: 'proxy',
        client_secret: UPSTREAM_SECRET,
        redirect_uris: callbacks,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    features: { revocation: { enabled: true } },
    scopes: ['openid', 'offline_access', 'email', 'profile'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: {
      AccessToken: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
      IdToken: 3600,
    },
    cookies: { keys: ['a test needs no secret'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: `User ${id}` }),
    }),
  };
  const provider = new Provider(issuer, configure(configuration));
  const seen: UpstreamServer['seen'] = [];
  const listener = provider.callback();
  http.on('request', (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    if (request.method !== 'POST' || !/form-urlencoded/.test(request.headers['content-type'] ?? '')) {
      seen.push({ path: url.pathname, grantType: undefined, query: url.searchParams });
      return void listener(request, response);
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      seen.push({
        path: url.pathname,
        grantType: form.get('grant_type') ?? undefined,
        query: url.searchParams,
      });
      // The provider takes a body that was parsed before, as behind a framework.
      Object.assign(request, { body: Object.fromEntries(form) });
      void listener(request, response);
    });
  });
  return {
    issuer,
    provider,
    seen,
    count: (path, grantType) =>
      seen.filter((one) => one.path === path && (grantType === undefined || one.grantType === grantType))
        .length,
    close: () => closeNow(http),
  };
}

/** An MCP server whose callers log in through the proxy. */
export interface ProxiedServer {
  /** The URL of the MCP server. */
  readonly url: string;
  readonly origin: string;
  readonly proxy: OAuthProxy;
  readonly logs: string[];
  readonly close: () => Promise<void>;
}

const SERVER_SECRET = 'the secret of the MCP server, at least 32 characters';

export interface ProxiedOptions {
  readonly store?: Store;
  readonly secret?: string | readonly string[];
  /** The path of the MCP server. Default: /mcp. */
  readonly path?: string;
  readonly proxy?: Partial<OAuthProxyOptions>;
  /** The HTTP server to use. Default: a new one. */
  readonly http?: { readonly server: HttpServer; readonly origin: string };
  /** The URL as clients see it. Default: the origin with the path. */
  readonly publicUrl?: string;
}

/** Starts an MCP server with a proxy in front of `issuer`. */
export async function startProxied(issuer: string, options: ProxiedOptions = {}): Promise<ProxiedServer> {
  const { store = memoryStore(), secret = SERVER_SECRET, path = '/mcp' } = options;
  const http = options.http ?? (await openPort());
  const publicUrl = options.publicUrl ?? `${http.origin}${path}`;
  const logs: string[] = [];
  const proxy = oauthProxy({
    upstream: openId({
      issuer,
      name: 'Example Login',
      clientId: 'proxy',
      clientSecret: UPSTREAM_SECRET,
      scopes: ['openid', 'email', 'profile', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
    }),
    publicUrl,
    scopes: { 'files:read': 'Read your files', 'files:write': 'Change your files' },
    defaultScopes: ['files:read'],
    ...options.proxy,
  });
  const server = createServer({
    name: 'Files',
    version: '1.0.0',
    store,
    secret: secret as string,
    logger: (...entry) => void logs.push(entry.map(String).join(' ')),
    tools: {
      me: tool({ run: (_, { auth }) => JSON.stringify(auth ?? null) }),
      write: tool({ scopes: ['files:write'], run: () => 'written' }),
      upstream: tool({ run: async (_, { auth }) => proxy.upstreamToken(auth) }),
    },
  });
  const handler = createNodeHandler(server, { auth: proxy, path, publicUrl });
  http.server.on('request', handler);
  return {
    url: publicUrl,
    origin: http.origin,
    proxy,
    logs,
    async close() {
      closeNow(http.server);
      await handler.close({ deadlineMs: 0 });
    },
  };
}

/** Opens a port before the server is made, because the provider has to know its address. */
export async function openPort(): Promise<NonNullable<ProxiedOptions['http']>> {
  const server = createHttpServer();
  return { server, origin: await listen(server) };
}

async function listen(server: HttpServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closeNow(server: HttpServer): void {
  server.closeAllConnections();
  server.close();
}
