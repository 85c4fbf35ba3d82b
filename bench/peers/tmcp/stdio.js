import { StdioTransport } from '@tmcp/transport-stdio';
import server from './server.js';

new StdioTransport(server).listen();
