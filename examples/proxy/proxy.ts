import process from 'node:process';
import { type ApiKey, apiKey } from 'fullmcp/auth';
import { rateLimit } from 'fullmcp/middleware';
import { type ServeOptions, serve } from 'fullmcp/node';
import { exchangeToken } from 'fullmcp/oauth';
import { github, type TokenVault, userTokens } from 'fullmcp/oauth-proxy';
import { type ProxyServer, proxy } from 'fullmcp/proxy';

// Servers in front of other servers. docs/proxy.md shows this code.

/** A local program, served to the network. */
export function overHttp(): ProxyServer {
  // #region stdio
  const files = proxy({ command: 'npx', args: ['@modelcontextprotocol/server-filesystem', '/srv/files'] });
  // #endregion
  return files;
}

/** A remote server, protected by keys and limits of one's own. */
export async function guarded(url: string, keys: readonly ApiKey[], own: ServeOptions = {}) {
  // #region guarded
  const upstream = proxy(url, {
    // The proxy's own token. Those of its callers stay here.
    auth: () => process.env['UPSTREAM_TOKEN'] ?? '',
    use: [rateLimit({ tools: '100/min', reads: '300/min' })],
  });
  const serving = await serve(upstream, { ...own, auth: apiKey({ keys }) });
  // #endregion
  return serving;
}

/** Exchanges the token of each caller for one of the server (RFC 8693). */
export function exchanging(url: string, issuer: string, clientSecret: string): ProxyServer {
  // #region exchange
  return proxy(url, {
    identity: exchangeToken({
      issuer,
      clientId: 'mcp-proxy',
      clientSecret,
      resource: url,
      scopes: ['files'],
    }),
  });
  // #endregion
}

/** Calls the server as somebody else for each caller. */
export function withStoredTokens(url: string, tokenFor: (subject: string) => Promise<string>): ProxyServer {
  // #region identity
  return proxy(url, {
    async identity({ auth }) {
      if (auth === undefined) throw new Error('Log in first.');
      return { key: auth.subject, headers: { authorization: `Bearer ${await tokenFor(auth.subject)}` } };
    },
  });
  // #endregion
}

/** The parts of a website that the login needs. */
export interface Website {
  readonly vault: TokenVault;
  /** The name of the user who is logged in at the website. */
  readonly userOf: (request: Request) => Promise<string | undefined>;
}

/** Calls the server with the tokens of each user, who logs in there once. */
export function withLogins(url: string, { vault, userOf }: Website, clientSecret: string) {
  // #region login
  const tokens = userTokens({
    upstream: github({ clientId: 'Iv1.example', clientSecret, scopes: ['repo'] }),
    vault, // get, set and delete: in your database, encrypted
    publicUrl: 'https://mcp.example.com/login',
    async browserUser(request) {
      const subject = await userOf(request); // by the session of your website
      return subject === undefined ? undefined : { subject };
    },
  });
  const upstream = proxy(url, { identity: tokens.identity });
  // Serve `tokens.handler` at https://mcp.example.com/login and /login/callback.
  // #endregion
  return { upstream, handler: tokens.handler };
}
