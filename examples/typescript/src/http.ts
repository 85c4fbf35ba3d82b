import { serve } from 'fullmcp/node';
import { server } from './server.ts';

const { url } = await serve(server);
console.log(`Listening on ${url}`);
