import process from 'node:process';
import { type ApiKey, apiKey } from 'fullmcp/auth';
import { rateLimit } from 'fullmcp/middleware';
import { type ServeOptions, serve } from 'fullmcp/node';
import { exchangeToken } from 'fullmcp/oauth';
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
