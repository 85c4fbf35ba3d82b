import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { type Serving, serve } from 'fullmcp/node';
import { google, type OAuthProxyOptions, oauthProxy } from 'fullmcp/oauth-proxy';

const server = createServer({
  name: 'hello',
  version: '1.0.0',
  tools: { who_am_i: tool({ run: (_input, { auth }) => auth?.email ?? 'somebody without an address' }) },
});

/** Serves at MCP_PUBLIC_URL. Users log in with Google, at the first call of their client. */
export function start(more: Partial<OAuthProxyOptions> = {}): Promise<Serving> {
  const auth = oauthProxy({
    upstream: google({
      clientId: process.env['GOOGLE_CLIENT_ID'] ?? '',
      clientSecret: process.env['GOOGLE_CLIENT_SECRET'] ?? '',
      hostedDomain: 'example.com', // without it, everyone with a Google account may log in
    }),
    publicUrl: process.env['MCP_PUBLIC_URL'] ?? 'http://localhost:3000/mcp',
    ...more,
  });
  return serve(server, { auth });
}
