import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { serve } from 'fullmcp/node';
import { z } from 'zod';

// One replica of a server. `main` starts three of them. serve() connects them with the engine at MCP_CLUSTER_URL.

// NATS connects processes, but is not a store. Without an engine, the processes of this machine share a folder as well.
const engine = process.env['MCP_CLUSTER_URL'] ?? '';
const needsFolder = engine === '' || engine.startsWith('nats:');
const folder = process.env['CLUSTER_FOLDER'] ?? join(tmpdir(), 'fullmcp-cluster');

const server = createServer({
  name: 'bakery',
  version: '1.0.0',
  ...(needsFolder && { store: lmdbStore(folder) }),
  // A task of a process that died is continued after this time. Default: 15 s.
  tasks: { leaseMs: 3000, pollIntervalMs: 500 },
  tools: {
    where: tool({
      description: 'Tell which process answers',
      run: () => `process ${process.pid}`,
    }),
    bake: tool({
      description: 'Bake loaves, one after the other',
      task: 'required',
      input: z.object({ loaves: z.number().int().max(100).default(10), seconds: z.number().default(1) }),
      async run({ loaves, seconds }, ctx) {
        const bakers: number[] = [];
        for (let loaf = 1; loaf <= loaves; loaf++) {
          // The result of a step is recorded. Another process that continues this task does not bake the loaf again.
          const baker = await ctx.step(`loaf ${loaf}`, async () => {
            await delay(seconds * 1000);
            return process.pid;
          });
          bakers.push(baker);
          ctx.progress(loaf, loaves, `loaf ${loaf} is baked by process ${baker}`);
        }
        return { bakers };
      },
    }),
    order: tool({
      description:
        'Order a loaf, after a question that any process may ask, and another may get the answer to',
      async run(_input, ctx) {
        const { kind } = await ctx.ask('kind', {
          message: 'Which kind of bread?',
          schema: z.object({ kind: z.enum(['rye', 'wheat']) }),
        });
        return `One loaf of ${kind} bread, ordered at process ${process.pid}`;
      },
    }),
  },
});

const { url, closed } = await serve(server);
// `main` waits for this message. In a worker of `serve` it goes to the primary process, which ignores it.
process.send?.({ url });
if (process.send === undefined) console.log(url);
// If `main` is gone, nobody needs this process.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await closed;
