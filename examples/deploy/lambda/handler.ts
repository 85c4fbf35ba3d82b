import process from 'node:process';
import { createHandler } from 'fullmcp/http';
import server from '../../basic-server/server.js';
import { type HttpEvent, type HttpResult, toRequest, toResult } from './adapter.js';

// #region handler
const mcp = createHandler(server, {
  publicUrl: process.env['MCP_PUBLIC_URL'],
  secret: process.env['MCP_SECRET'],
  trustProxy: 1,
  // An HTTP API waits for 30 s at most. Calls and streams end before, with a message of ours.
  requestTimeoutMs: 25_000,
  maxAgeMs: 25_000,
});

export async function handler(event: HttpEvent): Promise<HttpResult> {
  const request = toRequest(event);
  // The result is sent as a whole, so a stream without an end is refused. Clients work without it.
  if (request.method === 'GET' && request.headers.get('accept')?.includes('text/event-stream'))
    return toResult(new Response(null, { status: 405, headers: { allow: 'POST' } }));
  return toResult(await mcp(request));
}
// #endregion
