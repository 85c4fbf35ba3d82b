import process from 'node:process';
import { apiKey } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { prefix, readKeys } from './keys.js';
import { server } from './server.js';

const keys = await readKeys(process.env['KEYS_FILE'] ?? 'keys.json'); // make-key.ts writes it
// With `optional`, a caller without a key is anonymous and sees the public tools. A wrong key is always an error.
export const serving = await serve(server, { auth: apiKey({ keys, prefix, optional: true }) });
console.log(`Listening on ${serving.url}`);
