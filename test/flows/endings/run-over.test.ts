import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../src/node.js';
import { modernExchange, modernMessage } from '../../support/http/modern.js';
import { printPost, rawSocket } from '../../support/http/raw.js';
import { openSession } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';
import { openWebSocket } from '../../support/wires/web-socket.js';

// A handler that loops over steps and ignores its signal. However its call ends, the step that is running then is the last.

const capabilities = { elicitation: {} };
const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
const question = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };

let serving: Serving;
let steps: string[];
let errors: unknown[];
let isDone: boolean;
let release: () => void;

beforeEach(async () => {
  steps = [];
  errors = [];
  isDone = false;
  const released = new Promise<void>((resolve) => {
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
          const onError = (error: unknown) => void errors.push(error);
          // A question is not sent while a step runs, so this question shows when the run is over.
          ctx.ask('sure', question).catch(onError);
          try {
            for (let reader = 1; reader <= 5; reader++) {
              await ctx.step(`mail ${reader}`, async () => {
                steps.push(`mail ${reader}`);
                await released;
              });
            }
          } finally {
            await ctx.step('compensate', () => steps.push('compensate')).catch(onError);
            isDone = true;
          }
        },
      }),
    },
  });
  serving = await serve(server, { port: 0, signals: false, drainMs: 50 });
});

afterEach(() => serving.close());

const untilBegun = () => until('the first step runs', () => steps.length === 1);

async function expectNoFurtherStep(code: string): Promise<void> {
  await until('the question has thrown', () => errors.length === 1);
  expect(errors[0]).toMatchObject({ code });
  release();
  await until('the handler is done', () => isDone);
  expect(steps).toEqual(['mail 1']);
  expect(errors).toHaveLength(2);
}

async function post(exchange: Parameters<typeof printPost>[0]) {
  const socket = await rawSocket(serving.port);
  socket.write(printPost(exchange));
  return socket;
}

test('a handler cannot run another step after its client has lost the HTTP connection', async () => {
  const socket = await post(modernExchange('tools/call', { name: 'newsletter' }, { meta }));
  await untilBegun();
  socket.destroy();
  await expectNoFurtherStep('connection_closed');
});

test('a handler cannot run another step after its client has cancelled the call over WebSocket', async () => {
  const client = await openWebSocket(serving.url);
  client.send(modernMessage('tools/call', { name: 'newsletter' }, { id: 1, meta }));
  await untilBegun();
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await expectNoFurtherStep('cancelled');
  client.socket.terminate();
});

test('a handler cannot run another step after its client has cancelled the call in a session', async () => {
  const session = await openSession(serving.url, '2025-11-25', capabilities);
  const calling = session.request('tools/call', { name: 'newsletter' }, 1);
  await untilBegun();
  await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await expectNoFurtherStep('cancelled');
  await calling;
});

test('a handler cannot run another step after a shutdown has reached its time limit', async () => {
  const socket = await post(modernExchange('tools/call', { name: 'newsletter' }, { meta }));
  await untilBegun();
  const closing = serving.close();
  await expectNoFurtherStep('connection_closed');
  await closing;
  socket.destroy();
});
