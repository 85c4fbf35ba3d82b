import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';
import Provider, { type Configuration, type StoredToken } from 'oidc-provider';

// A real authorization server on this computer, and an MCP server that it protects.

/** One request that the authorization server got. */
interface Seen {
  readonly method: string;
  readonly path: string;
  /** The parameters of the body, if it was a form. */
  readonly form: URLSearchParams;
}

export interface ProtectedSetup {
  /** The URL of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  readonly provider: Provider;
  /** The access tokens that the MCP server has seen. */
  readonly issued: string[];
  /** The refresh tokens that the authorization server has issued. */
  readonly refreshTokens: string[];
  /** All requests to the authorization server. */
  readonly seen: Seen[];
  /** The number of requests with this path. */
  readonly count: (path: string, grantType?: string) => number;
  /** The scopes that the tool `write` requires; the others require `mcp:read`. */
  readonly mcp: { requests: number; issuer: string };
  readonly close: () => Promise<void>;
}

export interface ProtectedOptions {
  /** The lifetime of access tokens in seconds. Default: an hour. */
  readonly accessTokenSeconds?: number;
  /** Changes the configuration of the authorization server. */
  readonly configure?: (configuration: Configuration) => Configuration;
  /** Answers a request to the authorization server itself, and returns true. */
  readonly intercept?: (...request: Parameters<RequestListener>) => boolean;
  /** Called before the token endpoint replies. */
  readonly beforeToken?: () => Promise<void>;
  /** The scheme of the challenge. Default: Bearer. */
  readonly scheme?: string;
}

/** Finds an access token, whichever grant it was issued for. */
export async function findToken(provider: Provider, token: string): Promise<StoredToken | undefined> {
  return (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
}

/** Starts both servers. */
export async function startProtected(options: ProtectedOptions = {}): Promise<ProtectedSetup> {
  const { scheme = 'Bearer' } = options;
  const seen: Seen[] = [];
  const mcp = { requests: 0, issuer: '' };
  const authorization = createHttpServer();
  const issuer = await listen(authorization);
  mcp.issuer = issuer;
  const resourceServer = createHttpServer();
  const origin = await listen(resourceServer);
  const resource = `${origin}/mcp`;

  const provider = new Provider(issuer, configurationOf(resource, options));
  const issued: string[] = [];
  const refreshTokens: string[] = [];
  provider.use(async (context, next) => {
    if (context.path === '/token') await options.beforeToken?.();
    await next();
    const token = (context.body as { refresh_token?: string } | undefined)?.refresh_token;
    if (context.path === '/token' && token !== undefined) refreshTokens.push(token);
  });
  const listener = provider.callback();
  authorization.on('request', (request, response) => {
    const { method = '', url = '' } = request;
    const entry = { method, path: url.replace(/\?.*/s, ''), form: new URLSearchParams() };
    seen.push(entry);
    if (options.intercept?.(request, response)) return;
    // The provider takes a body that was parsed before, as behind a framework.
    if (method !== 'POST' || !/form-urlencoded/.test(request.headers['content-type'] ?? ''))
      return void listener(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      for (const [name, value] of new URLSearchParams(Buffer.concat(chunks).toString()))
        entry.form.append(name, value);
      Object.assign(request, { body: Object.fromEntries(entry.form) });
      void listener(request, response);
    });
  });

  const handle = createNodeHandler(
    createServer({
      name: 'protected',
      version: '1.0.0',
      tools: { read: tool({ run: () => 'read' }), write: tool({ run: () => 'written' }) },
    }),
  );
  resourceServer.on('request', async (request, response) => {
    const path = new URL(request.url ?? '', origin).pathname;
    if (path === '/.well-known/oauth-protected-resource/mcp') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(
        JSON.stringify({ resource, authorization_servers: [mcp.issuer], scopes_supported: ['mcp:read'] }),
      );
    }
    if (path !== '/mcp') return response.writeHead(404).end();
    mcp.requests++;
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const [, token = ''] = /^(?:Bearer|DPoP) (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token !== '' && !issued.includes(token)) issued.push(token);
    const found = token === '' ? undefined : await findToken(provider, token);
    if (found === undefined || found.isExpired) {
      response.writeHead(401, { 'www-authenticate': `${scheme} ${metadata}, scope="mcp:read"` });
      return response.end();
    }
    const needed = request.headers['mcp-name'] === 'write' ? 'mcp:write' : 'mcp:read';
    if (!found.scope?.split(' ').includes(needed)) {
      response.writeHead(403, {
        'www-authenticate': `${scheme} ${metadata}, error="insufficient_scope", scope="${needed}"`,
      });
      return response.end();
    }
    return handle(request, response);
  });

  return {
    url: resource,
    issuer,
    provider,
    seen,
    issued,
    refreshTokens,
    mcp,
    count: (path, grantType) =>
      seen.filter(
        (request) =>
          request.path === path && (grantType === undefined || request.form.get('grant_type') === grantType),
      ).length,
    async close() {
      for (const server of [authorization, resourceServer]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

function configurationOf(
  resource: string,
  { accessTokenSeconds = 3600, configure }: ProtectedOptions,
): Configuration {
  const configuration: Configuration = {
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'mcp:read mcp:write',
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: accessTokenSeconds,
        }),
      },
    },
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (
      _: unknown,
      client: { grantTypeAllowed(type: string): boolean },
      code: { scopes: Set<string> },
    ) => client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    ttl: {
      AccessToken: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
    },
    cookies: { keys: ['a test needs no secret'] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  };
  return configure?.(configuration) ?? configuration;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
