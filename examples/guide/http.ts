import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { TLSSocket } from 'node:tls';
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
    trustProxy: ['10.0.0.0/8'],
    secret: process.env['MCP_SECRET'],
    allowedOrigins: ['https://app.example.com'],
  });
}
// #endregion

// #region tls
export function serveTls(folder: string, port = 8443): Promise<Serving> {
  return serve(server, {
    port,
    tls: { cert: `${folder}/cert.pem`, key: `${folder}/key.pem` }, // paths, or PEM text
  });
}
// #endregion

// #region client-certificates
/** Only clients with a certificate of our own authority, whose name is the caller. */
export function serveMutualTls(folder: string, port = 8443): Promise<Serving> {
  return serve(server, {
    port,
    tls: {
      cert: `${folder}/cert.pem`,
      key: `${folder}/key.pem`,
      ca: `${folder}/clients.pem`, // the authority that signs the clients
      requestCert: true,
    },
    auth(request) {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate(); // verified by now
      return { subject: String(subject.CN) };
    },
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
