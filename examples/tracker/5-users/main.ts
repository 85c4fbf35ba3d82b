import { readFileSync } from 'node:fs';
import process from 'node:process';
import { apiKey } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { server } from './server.ts';

const keys = JSON.parse(readFileSync('keys.json', 'utf8'));
const { url } = await serve(server, { auth: apiKey({ keys, prefix: 'tracker_' }) });
console.log(`Process ${process.pid} listens on ${url}`);
