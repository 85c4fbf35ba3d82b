import { McpServer } from '@modelcontextprotocol/server';
import { info } from '../request.js';
import { echoDescription, echoInput, toolNames } from './tools.js';

const names = toolNames();

/** Called for each request, as in the SDK's documentation. */
export function createOfficial() {
  const server = new McpServer(info);
  for (const name of names) {
    server.registerTool(name, { description: echoDescription, inputSchema: echoInput }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }));
  }
  return server;
}
