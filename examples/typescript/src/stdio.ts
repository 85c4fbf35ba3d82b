import { serveStdio } from 'fullmcp/stdio';
import { server } from './server.ts';

serveStdio(server);
