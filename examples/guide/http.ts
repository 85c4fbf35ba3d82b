import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, type Serving, serve } from 'fullmcp/node';
import server from '../basic-server/server.js';

// #region public
/** Reachable from other machines, behind a proxy that terminates TLS. */
export function servePublic(): Promise<Serving> {
  return serve(server, {
    host: '0.0.0.0',
    port: 8080,
    publicUrl: 'https://api.example.com/mcp',
    secret: process.env['MCP_SECRET'],
    allowedOrigins: ['https://app.example.com'],
  });
}
// #endregion

// #region tls
export function serveTls(folder: string): Promise<Serving> {
  return serve(server, {
    port: 8443,
    tls: { cert: readFileSync(`${folder}/cert.pem`), key: readFileSync(`${folder}/key.pem`) },
  });
}
// #endregion

// #region node
export function mount(): HttpServer {
  const mcp = createNodeHandler(server);
  return createHttpServer((req, res) => {
    // The paths below it, too: a protected server has its metadata there.
    if (/^\/mcp(?:$|[/?])/.test(req.url ?? '')) void mcp(req, res);
    else res.writeHead(404).end();
  });
}
// #endregion

// #region web
export const fetch: (request: Request) => Promise<Response> = createHandler(server);
// #endregion
