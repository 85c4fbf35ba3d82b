import { serveStdio } from 'fullmcp/stdio';
import server from './math.mjs';

await serveStdio(server);
