import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../src/node.js';
import { modernExchange, modernMessage } from '../support/http/modern.js';
import { head, rawSocket } from '../support/http/raw.js';
import { openSession } from '../support/http/sessions.js';
import { until } from '../support/until.js';
import { openWebSocket } from '../support/wires/web-socket.js';

// A handler that loops over steps and ignores its signal. However its call ends, the running step is the last.

const capabilities = { elicitation: {} };
const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
const question = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };

let serving: Serving;
let steps: string[];
let refusals: unknown[];
let isDone: boolean;
let release: () => void;

beforeEach(async () => {
  steps = [];
  refusals = [];
  isDone = false;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer({
    name: 'test',
    version: '1',
    logger: () => undefined,
    tools: {
      newsletter: tool({
        timeoutMs: 60_000,
        run: async (_, ctx) => {
          const refused = (error: unknown) => void refusals.push(error);
          // A question is not sent while a step runs, so this question shows when the run is over.
          ctx.ask('sure', question).catch(refused);
          try {
            for (let reader = 1; reader <= 5; reader++) {
              await ctx.step(`mail ${reader}`, async () => {
                steps.push(`mail ${reader}`);
                await held;
              });
            }
          } finally {
            await ctx.step('compensate', () => steps.push('compensate')).catch(refused);
            isDone = true;
          }
        },
      }),
    },
  });
  serving = await serve(server, { port: 0, signals: false, drainMs: 50 });
});

afterEach(() => serving.close());

const begun = () => until('the first step runs', () => steps.length === 1);

async function expectTheEnd(code: string): Promise<void> {
  await until('the question has thrown', () => refusals.length === 1);
  expect(refusals[0]).toMatchObject({ code });
  release();
  await until('the handler is done', () => isDone);
  expect(steps).toEqual(['mail 1']);
  expect(refusals).toHaveLength(2);
}

async function post({ headers, body }: { headers?: object; body?: string | Buffer }) {
  const socket = await rawSocket(serving.port);
  const all = { host: 'localhost', ...headers, 'content-length': String(body).length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(head(['POST /mcp HTTP/1.1', ...lines]) + String(body));
  return socket;
}

test("a handler's run ends when its client loses the HTTP connection", async () => {
  const socket = await post(modernExchange('tools/call', { name: 'newsletter' }, { meta }));
  await begun();
  socket.destroy();
  await expectTheEnd('connection_closed');
});

test("a handler's run ends when its client cancels over a shared channel", async () => {
  const client = await openWebSocket(serving.url);
  client.send(modernMessage('tools/call', { name: 'newsletter' }, { id: 1, meta }));
  await begun();
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await expectTheEnd('cancelled');
  client.socket.terminate();
});

test("a handler's run ends when its client cancels in a session", async () => {
  const session = await openSession(serving.url, '2025-11-25', capabilities);
  const calling = session.request('tools/call', { name: 'newsletter' }, 1);
  await begun();
  await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await expectTheEnd('cancelled');
  await calling;
});

test("a handler's run ends when a shutdown reaches its time limit", async () => {
  const socket = await post(modernExchange('tools/call', { name: 'newsletter' }, { meta }));
  await begun();
  const closing = serving.close();
  await expectTheEnd('connection_closed');
  await closing;
  socket.destroy();
});
