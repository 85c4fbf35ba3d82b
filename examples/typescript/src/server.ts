import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export const server = createServer({
  name: 'math',
  version: '1.0.0',
  tools: {
    add: tool({
      description: 'Add two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      run: ({ a, b }) => ({ sum: a + b }),
    }),
  },
});
