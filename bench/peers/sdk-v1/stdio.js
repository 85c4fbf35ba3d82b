import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { makeServer } from './server.js';

await makeServer().connect(new StdioServerTransport());
