import { handle } from './server.js';

Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: (request) => handle(request) });
