import process from 'node:process';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { server } from './server.js';

const hash = await hashApiKey(process.env['API_KEY'] ?? ''); // openssl rand -hex 32
export const serving = await serve(server, {
  auth: apiKey({ keys: [{ hash, subject: 'ada', scopes: ['notes:read', 'notes:write'] }] }),
});
console.log(`Listening on ${serving.url}`);
