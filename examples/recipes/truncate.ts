import { createServer, tool } from 'fullmcp';
import { outputBudget } from 'fullmcp/middleware';
import { z } from 'zod';

export default createServer({
  name: 'logs',
  version: '1.0.0',
  // A result of more than 20,000 characters is replaced by its first 2,000 and a link to the rest.
  use: [outputBudget({ maxChars: 20_000, headChars: 2000 })],
  tools: {
    read_log: tool({
      description: 'The log of a day',
      input: z.object({ day: z.iso.date() }),
      annotations: { readOnly: true },
      run: ({ day }) =>
        Array.from({ length: 5000 }, (_, i) => `${day} request ${i} took ${(i * 7) % 90} ms`).join('\n'),
    }),
  },
});
