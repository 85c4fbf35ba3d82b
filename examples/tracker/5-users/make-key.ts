import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { hashApiKey } from 'fullmcp/auth';

// Makes a key and prints it: node make-key.ts ada issues:read issues:write. The file keeps only its hash.

const [subject, ...scopes] = process.argv.slice(2);
const key = `tracker_${randomBytes(32).toString('base64url')}`;
const keys = existsSync('keys.json') ? JSON.parse(readFileSync('keys.json', 'utf8')) : [];
keys.push({ hash: await hashApiKey(key), subject, scopes });
writeFileSync('keys.json', JSON.stringify(keys, undefined, 2));
console.log(key);
