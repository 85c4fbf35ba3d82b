import { serve } from 'fullmcp/node';
import server from './server.js';

const { url } = await serve(server);
console.log(`Listening on ${url}`);
