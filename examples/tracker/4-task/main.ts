import process from 'node:process';
import { serve } from 'fullmcp/node';
import { server } from './server.ts';

const { url } = await serve(server);
console.log(`Process ${process.pid} listens on ${url}`);
