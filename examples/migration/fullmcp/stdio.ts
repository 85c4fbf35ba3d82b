import { serveStdio } from 'fullmcp/stdio';
import { server } from './shop.js';

serveStdio(server);
