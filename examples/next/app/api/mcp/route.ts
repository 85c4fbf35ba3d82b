import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { z } from 'zod';

const server = createServer({
  name: 'math',
  version: '1.0.0',
  tools: {
    add: tool({
      description: 'Add two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => a + b,
    }),
  },
});

const handler = createHandler(server, {
  publicUrl: process.env['MCP_PUBLIC_URL'],
  secret: process.env['MCP_SECRET'],
});

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as POST };
