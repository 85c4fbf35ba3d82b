import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createOfficial } from './official-server.js';

serveStdio(createOfficial);
