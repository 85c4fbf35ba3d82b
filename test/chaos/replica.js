// One replica of the kill test: a server on the engine at MCP_CLUSTER_URL. Every effect is a line in the file LEDGER, and every step
// also a row in the table TRANSFERS, if there is one.
import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer, resource, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { serve } from 'fullmcp/node';
import { z } from 'zod';

const { LEDGER: ledger = '', BOARD: board = '', STORE: folder, TRANSFERS: transfers } = process.env;
let turn = 0;
let isInTurn = false;

/** @param {object} effect @param {{ auth: { subject?: string } | undefined }} ctx */
function record(effect, ctx) {
  if (!isInTurn) {
    isInTurn = true;
    turn++;
    setImmediate(() => {
      isInTurn = false;
    });
  }
  appendFileSync(ledger, `${JSON.stringify({ ...effect, caller: callerOf(ctx), pid: process.pid, turn })}\n`);
}

/** @param {{ auth: { subject?: string } | undefined }} ctx */
function callerOf({ auth }) {
  return auth?.subject ?? 'nobody';
}

const id = z.object({ id: z.string() });
const topic = z.object({ topic: z.string() });
const reply = z.object({ answer: z.string(), from: z.string() });

/**
 * Asks the caller, and records what was answered.
 * @param {import('fullmcp').Context} ctx @param {string} key @param {string} question
 */
async function ask(ctx, key, question) {
  const message = JSON.stringify({ question, to: callerOf(ctx) });
  const { answer, from } = await ctx.ask(key, { message, schema: reply });
  record({ kind: 'answer', question, answer, from }, ctx);
}

const server = createServer({
  ...(folder !== undefined && { store: lmdbStore(folder) }),
  name: 'chaos',
  version: '1.0.0',
  changes: true,
  idempotency: true,
  tasks: { leaseMs: 2000, parkMs: 1000, pollIntervalMs: 200 },
  logger: (level, message, detail) =>
    console.error(new Date().toISOString(), process.pid, level, message, detail ?? ''),
  tools: {
    // Five steps, and a question between the third and the fourth.
    job: tool({
      task: 'required',
      input: id,
      async run({ id: job }, ctx) {
        const nonces = [];
        for (let step = 1; step <= 5; step++) {
          if (step === 4) await ask(ctx, 'sure', `${job} sure`);
          const nonce = await ctx.step(`step ${step}`, async ({ idempotencyKey, transaction }) => {
            const own = randomUUID();
            record({ kind: 'step', job, step, nonce: own, key: idempotencyKey }, ctx);
            await delay(Math.random() * 150);
            if (transfers !== undefined)
              await transaction.query(`INSERT INTO ${transfers} VALUES ($1, $2, $3)`, [job, step, own]);
            await delay(Math.random() * 50);
            return own;
          });
          nonces.push(nonce);
        }
        return { id: job, caller: callerOf(ctx), nonces };
      },
    }),
    // An ordinary call that asks twice, answered in another process as likely as not.
    ask: tool({
      input: id,
      async run({ id: call }, ctx) {
        await ask(ctx, 'first', `${call} first`);
        await ask(ctx, 'second', `${call} second`);
        return { id: call, caller: callerOf(ctx) };
      },
    }),
    // An effect that a client repeats with the same key until it knows the outcome.
    pay: tool({
      input: id,
      async run({ id: payment }, ctx) {
        const nonce = randomUUID();
        record({ kind: 'payment', payment, nonce }, ctx);
        await delay(Math.random() * 20);
        return { id: payment, caller: callerOf(ctx), nonce };
      },
    }),
    // A call that streams: its client gets the rest elsewhere when the connection breaks.
    slow: tool({
      input: id.extend({ total: z.number() }),
      async run({ id: call, total }, ctx) {
        for (let progress = 1; progress <= total; progress++) {
          await delay(Math.random() * 50);
          ctx.progress(progress, total);
        }
        return { id: call, caller: callerOf(ctx) };
      },
    }),
    echo: tool({ input: id, run: (input, ctx) => ({ id: input.id, caller: callerOf(ctx) }) }),
    // The version of a board is the length of its file, and that of the list is the number of notes.
    write: tool({
      input: topic,
      run({ topic: name }, ctx) {
        appendFileSync(join(board, name), '.');
        ctx.changed.resource(`board://${name}`);
        return { version: versionOf(name) };
      },
    }),
    add: tool({
      run(_, ctx) {
        writeFileSync(join(board, `note-${randomUUID()}`), '');
        ctx.changed.resources();
        return { version: notes().length };
      },
    }),
  },
  resources: {
    'board://{name}': resource({ read: ({ name }) => ({ version: versionOf(name) }) }),
    'note://{name}': resource({
      list: () => notes().map((name) => `note://${name}`),
      read: ({ name }) => `note ${name}`,
    }),
  },
});

/** @param {string} name */
function versionOf(name) {
  return statSync(join(board, name), { throwIfNoEntry: false })?.size ?? 0;
}

function notes() {
  return readdirSync(board).filter((name) => name.startsWith('note-'));
}

const serving = await serve(server, {
  auth: (request) => ({ subject: String(request.headers['x-caller'] ?? 'nobody') }),
});
console.log(serving.url);
await serving.closed;
