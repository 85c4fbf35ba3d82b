import express, { type Express } from 'express';
import { createServer, tool } from 'fullmcp';
import { createNodeHandler, type Serving, serve } from 'fullmcp/node';
import { type OAuthProxy, type OAuthProxyOptions, oauthProxy, openId } from 'fullmcp/oauth-proxy';
import { server } from './server.js';

// The examples of docs/oauth-proxy.md.

/** The registration of this server at the provider, and its own address and secret. */
export interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly publicUrl: string;
  readonly secret: string;
}

export async function start(settings: Settings): Promise<Serving> {
  const { issuer, clientId, clientSecret, publicUrl, secret } = settings;
  // #region setup
  const auth = oauthProxy({
    upstream: openId({ issuer, clientId, clientSecret }), // issuer: 'https://login.example.com'
    publicUrl, // 'https://mcp.example.com/mcp'
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Add notes for you' },
  });
  console.log(`The redirect URI to register at the provider: ${auth.callbackUrl}`);
  const serving = await serve(server, { auth, secret });
  // #endregion
  return serving;
}

/** A server whose tool uses the API of the provider for its caller. */
export function withUpstreamToken(auth: OAuthProxy): ReturnType<typeof createServer> {
  // #region upstream
  const calendar = createServer({
    name: 'calendar',
    version: '1.0.0',
    tools: {
      today: tool({
        async run(_, ctx) {
          const token = await auth.upstreamToken(ctx.auth);
          const headers = { authorization: `Bearer ${token}` };
          const reply = await fetch('https://api.example.com/events/today', { headers, signal: ctx.signal });
          return await reply.json();
        },
      }),
    },
  });
  // #endregion
  return calendar;
}

export function forStaff(options: OAuthProxyOptions): OAuthProxy {
  // #region admit
  const auth = oauthProxy({
    ...options,
    admit: ({ user, scopes }) => {
      if (!user.email?.endsWith('@example.com')) return false;
      return user.claims?.['role'] === 'editor' ? scopes : ['notes:read'];
    },
  });
  // #endregion
  return auth;
}

export function forOneClient(options: OAuthProxyOptions): OAuthProxy {
  // #region clients
  const auth = oauthProxy({
    ...options,
    clients: [{ id: 'assistant', name: 'Our assistant', redirectUris: ['https://app.example.com/callback'] }],
    clientDocuments: false,
    registration: false,
  });
  // #endregion
  return auth;
}

export function inExpress(options: Omit<OAuthProxyOptions, 'path'>): Express {
  // #region express
  const auth = oauthProxy({ ...options, path: '/mcp' }); // the path of the mount
  const app = express();
  app.use('/mcp', createNodeHandler(server, { auth }));
  // #endregion
  return app;
}
