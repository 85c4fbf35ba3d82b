import process from 'node:process';
import express from 'express';
import { createServer, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';
import { z } from 'zod';

const todos = ['Buy milk'];

const server = createServer({
  name: 'todos',
  version: '1.0.0',
  tools: {
    add_todo: tool({
      input: z.object({ text: z.string().max(200) }),
      run: ({ text }) => `You have ${todos.push(text)} things to do`,
    }),
  },
});

const app = express();
const mcp = createNodeHandler(server);
app.use('/mcp', mcp); // before the parser, so that the limits of fullmcp apply
app.use(express.json());
app.get('/todos', (_req, res) => void res.json(todos));

export const listening = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');

/** Ends the streams of clients first, because Node would wait for them. */
export async function close(): Promise<void> {
  await mcp.close();
  await new Promise((resolve) => listening.close(resolve));
  await server.close();
}
process.once('SIGTERM', close);
