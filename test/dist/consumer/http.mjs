import { serve } from 'fullmcp/node';
import server from './math.mjs';

const { url } = await serve(server, { port: 0 });
console.log(`${url}`);
