import { server } from './shop.js';

const port = Number(process.argv[2] ?? 3000);
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } });
console.log(`Listening on http://localhost:${port}/mcp`);
