import process from 'node:process';
import { addKey } from './keys.js';

// Makes a key: node make-key.js reception visitors:read visitors:write

const [subject, ...scopes] = process.argv.slice(2);
if (subject === undefined)
  throw new Error('Name the caller and its scopes: make-key reception visitors:read');
console.log(await addKey(process.env['KEYS_FILE'] ?? 'keys.json', { subject, scopes }));
