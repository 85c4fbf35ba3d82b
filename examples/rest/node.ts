import { createServer as createHttpServer } from 'node:http';
import { rest } from 'fullmcp/rest';
import { server } from './server.js';

// #region node
const api = rest(server, { path: '/api', allowedHosts: ['shop.example.com'] });
export const listener = createHttpServer(api.node).listen(Number(process.env['PORT'] ?? 3000));
// #endregion
