import { appendFile } from 'node:fs/promises';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { createServer, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { serve } from 'fullmcp/node';
import { z } from 'zod';

const folder = process.env['DATA'] ?? 'data';

const server = createServer({
  name: 'importer',
  version: '1.0.0',
  store: lmdbStore(folder), // tasks outlive the process
  tasks: { leaseMs: 2000 }, // how long the next process waits for the last one; 15 s is the default
  tools: {
    import_rows: tool({
      description: 'Import rows, one step for each',
      input: z.object({ rows: z.int().min(1).max(1000), file: z.string() }),
      task: { support: 'required', pollIntervalMs: 100 },
      async run({ rows, file }, ctx) {
        for (let row = 1; row <= rows; row++) {
          await ctx.step(`row ${row}`, () => appendFile(file, `row ${row}\n`)); // a step that has ended stays done
          ctx.progress(row, rows);
          await setTimeout(20, undefined, { signal: ctx.signal });
        }
        return `Imported ${rows} rows`;
      },
    }),
  },
});

const { url } = await serve(server);
console.log(`Listening on ${url}`);
