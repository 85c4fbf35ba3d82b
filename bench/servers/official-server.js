import { McpServer } from '@modelcontextprotocol/server';
import { info } from '../request.js';
import { echoDescription, echoInput, toolNames } from './tools.js';

const names = toolNames();

/** Its documentation has a server made for each request; so do we. */
export function createOfficial() {
  const server = new McpServer(info);
  for (const name of names) {
    server.registerTool(name, { description: echoDescription, inputSchema: echoInput }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }));
  }
  return server;
}
