// One replica of the chaos tests: a server on the engine at MCP_CLUSTER_URL. Every effect is a line in the file LEDGER.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { serve } from 'fullmcp/node';
import { z } from 'zod';

const ledger = /** @type {string} */ (process.env['LEDGER']);

/** @param {object} effect */
function record(effect) {
  appendFileSync(ledger, `${JSON.stringify({ ...effect, pid: process.pid })}\n`);
}

const id = z.object({ id: z.string() });
const sure = z.object({ code: z.string() });

const folder = process.env['STORE'];
const server = createServer({
  ...(folder !== undefined && { store: lmdbStore(folder) }),
  name: 'chaos',
  version: '1.0.0',
  changes: true,
  idempotency: true,
  tasks: { leaseMs: 2000, parkMs: 1000, pollIntervalMs: 200 },
  logger: (level, message, detail) => {
    if (process.env['CHAOS_LOG']) console.error(level, message, detail ?? '');
  },
  tools: {
    // Five steps, and a question between the third and the fourth.
    job: tool({
      task: 'required',
      input: id,
      async run({ id: job }, ctx) {
        const nonces = [];
        let code = '';
        for (let step = 1; step <= 5; step++) {
          if (step === 4)
            ({ code } = await ctx.ask('sure', { message: `Continue with ${job}?`, schema: sure }));
          const nonce = await ctx.step(`step ${step}`, async ({ idempotencyKey }) => {
            const own = randomUUID();
            record({ job, step, nonce: own, key: idempotencyKey });
            await delay(Math.random() * 200);
            return own;
          });
          nonces.push(nonce);
        }
        return { job, code, nonces };
      },
    }),
    // An ordinary call that asks, answered in another process as likely as not.
    ask: tool({
      input: id,
      async run({ id: call }, ctx) {
        const { code } = await ctx.ask('sure', { message: `Continue with ${call}?`, schema: sure });
        return { call, code };
      },
    }),
    // An effect that a client repeats with the same key until it knows the outcome.
    pay: tool({
      input: id,
      async run({ id: payment }) {
        const nonce = randomUUID();
        record({ payment, nonce });
        await delay(Math.random() * 20);
        return { payment, nonce };
      },
    }),
    announce: tool({ input: id, run: ({ id: change }, ctx) => ctx.changed.resource(`chaos://${change}`) }),
    // A call that streams: its client gets the rest elsewhere when the connection breaks.
    slow: tool({
      input: id,
      async run({ id: call }, ctx) {
        for (let progress = 1; progress <= 5; progress++) {
          await delay(Math.random() * 100);
          ctx.progress(progress, 5);
        }
        return { call };
      },
    }),
    echo: tool({ input: id, run: (input) => input }),
  },
});

const serving = await serve(server, {
  auth: (request) => ({ subject: String(request.headers['x-caller'] ?? 'anonymous') }),
});
console.log(serving.url);
await serving.closed;
