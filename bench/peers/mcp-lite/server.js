import { McpServer, StreamableHttpTransport } from 'mcp-lite';
import { z } from 'zod';

const server = new McpServer({
  name: 'bench',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
server.tool('echo', {
  description: 'Returns its text',
  inputSchema: z.object({ text: z.string() }),
  handler: ({ text }) => ({ content: [{ type: 'text', text }] }),
});
export const handle = new StreamableHttpTransport().bind(server);
