import process from 'node:process';
import { createHandler } from 'fullmcp/http';
import server from '../../../basic-server/server.js';

// #region handler
const handler = createHandler(server, {
  publicUrl: process.env['MCP_PUBLIC_URL'],
  secret: process.env['MCP_SECRET'],
  trustProxy: 1,
  // Calls and streams end with a message of ours before Vercel ends the function: `maxDuration` is 60 s.
  requestTimeoutMs: 50_000,
  maxAgeMs: 50_000,
});

export default { fetch: (request: Request): Promise<Response> => handler(request) };
// #endregion
