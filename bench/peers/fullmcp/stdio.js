import { serveStdio } from 'fullmcp/stdio';
import server from './server.js';

serveStdio(server);
