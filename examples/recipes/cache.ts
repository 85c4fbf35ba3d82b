import process from 'node:process';
import { createServer, ToolError, tool } from 'fullmcp';
import { cache } from 'fullmcp/middleware';
import { z } from 'zod';

const api = process.env['RATES_URL'] ?? 'https://rates.example.com';

export default createServer({
  name: 'rates',
  version: '1.0.0',
  tools: {
    exchange_rate: tool({
      description: 'The exchange rate of two currencies',
      input: z.object({ from: z.string().length(3), to: z.string().length(3) }),
      annotations: { readOnly: true },
      // For ten minutes, the same arguments get the same result. "public": everyone who may call the tool shares it.
      use: [cache({ ttlMs: 600_000, cacheScope: 'public' })],
      async run({ from, to }, { signal }) {
        const reply = await fetch(`${api}/${from}/${to}`, { signal });
        if (!reply.ok) throw new ToolError(`The service for rates replied with ${reply.status}.`); // never cached
        return { from, to, rate: Number(await reply.text()) };
      },
    }),
  },
});
