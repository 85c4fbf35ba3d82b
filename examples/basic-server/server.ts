import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export default createServer({
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
