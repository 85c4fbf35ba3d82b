import { createServer, tool } from 'fullmcp';
import { rateLimit } from 'fullmcp/middleware';
import { z } from 'zod';

export default createServer({
  name: 'translator',
  version: '1.0.0',
  // Each caller has 60 calls of tools and 300 reads a minute. Without `auth`, an address is a caller.
  use: [rateLimit({ tools: '60/min', reads: '300/min', by: 'caller' })],
  tools: {
    detect: tool({
      input: z.object({ text: z.string().max(1000) }),
      run: ({ text }) => (/[äöüß]/i.test(text) ? 'German' : 'perhaps English'),
    }),
    translate: tool({
      description: 'Translate a letter. This costs money, so there are few a minute.',
      // Counts for this tool alone, in addition to the limit of the server.
      use: [rateLimit({ tools: '3/min', by: 'caller' })],
      input: z.object({ text: z.string().max(10_000) }),
      run: ({ text }) => `[translated] ${text}`,
    }),
  },
});
