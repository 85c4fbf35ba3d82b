import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './server.js';

serveStdio(makeServer);
