import { McpError } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { server } from './server.js';

// Stands in for your own check: a session table, an introspection endpoint, a signature.
const sessions = new Map([['token-of-ada', { id: 'ada', teams: ['engines'] }]]);

export const handle = createHandler(server, {
  auth: (request) => {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '');
    if (token === undefined) return undefined; // an anonymous caller: `ctx.auth` is undefined
    const user = sessions.get(token);
    if (user === undefined) throw new McpError('unauthorized', 'This token is not valid. Log in again.');
    return { subject: user.id, scopes: ['notes'], claims: { teams: user.teams } };
  },
});
