import process from 'node:process';
import { serve } from 'fullmcp/node';
import { github, oauthProxy } from 'fullmcp/oauth-proxy';
import { startStandIn } from './github-stand-in.js';
import { createRepositoriesServer } from './server.js';

// Users log in with GitHub. Without an app of your own, a stand-in on this computer plays GitHub.
// For the real one, create an OAuth app at https://github.com/settings/developers, with the callback URL that this program
// prints, and set GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET and MCP_SECRET.

const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret, PORT = '3000' } = process.env;
const app = clientId && clientSecret ? { clientId, clientSecret } : await startStandIn();
const publicUrl = process.env['MCP_PUBLIC_URL'] ?? `http://localhost:${PORT}/mcp`;

const auth = oauthProxy({
  upstream: github(app),
  publicUrl,
  scopes: { 'repositories:read': 'See the names of your repositories' },
  // Everyone with an account at GitHub may log in. To let only some in, name their ids, because names can change hands:
  // admit: ({ user }) => ['583231'].includes(user.subject),
});

// The tools call GitHub with the token of the user, which never leaves this program.
const api = 'apiUrl' in app ? app.apiUrl : 'https://api.github.com';
const server = createRepositoriesServer({ api, tokenOf: (caller) => auth.upstreamToken(caller) });

export const serving = await serve(server, { auth, publicUrl });
console.log(`Listening on ${serving.url}`);
console.log(`The callback URL for GitHub is ${auth.callbackUrl}`);
