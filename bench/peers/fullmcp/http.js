import { serve } from 'fullmcp/node';
import server from './server.js';

await serve(server, { port: Number(process.env.PORT), host: '127.0.0.1' });
