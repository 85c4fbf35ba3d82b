import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'bench', version: '1.0.0' });
server.addTool({
  name: 'echo',
  description: 'Returns its text',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
});
export default server;
