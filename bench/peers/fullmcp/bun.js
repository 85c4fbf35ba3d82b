import { createHandler } from 'fullmcp/http';
import server from './server.js';

Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: createHandler(server) });
