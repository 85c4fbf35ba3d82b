import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export default createServer({
  name: 'bench',
  version: '1.0.0',
  tools: {
    echo: tool({
      description: 'Returns its text',
      input: z.object({ text: z.string() }),
      run: ({ text }) => text,
    }),
  },
});
