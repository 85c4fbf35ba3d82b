import { createServer, McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { proxy } from 'fullmcp/proxy';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../support/http/sessions.js';

/** A server whose tool waits until it is cancelled, and notes why. */
function waiting() {
  let start = (): void => undefined;
  let resolve = (_reason: unknown): void => undefined;
  const started = new Promise<void>((done) => {
    start = done;
  });
  const reason = new Promise<unknown>((done) => {
    resolve = done;
  });
  const server = createServer({
    name: 'waiting',
    version: '1',
    logger: () => undefined,
    tools: {
      wait: tool({
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              resolve(signal.reason);
              reject(signal.reason);
            });
            start();
          }),
      }),
    },
  });
  onTestFinished(() => server.close());
  return { server, started, reason };
}

async function reasonOver(
  { over, revision }: Pick<(typeof wires)[number], 'over' | 'revision'>,
  why?: unknown,
): Promise<McpError> {
  const { server, started, reason } = waiting();
  await using client = await testClient(server, { over, revision });
  const controller = new AbortController();
  const call = client.callTool('wait', {}, { signal: controller.signal });
  await started;
  controller.abort(why);
  await expect(call).rejects.toBeInstanceOf(McpError);
  return (await reason) as McpError;
}

// Over Streamable HTTP, this client ends the request, and the server sees that first.
const telling = wires.filter(({ over }) => over !== 'http');

describe.each(telling)('the reason of a cancellation over $over, $revision', (wire) => {
  test('is the cause of the reason of ctx.signal', async () => {
    const reason = await reasonOver(wire, 'The user pressed stop');
    expect(reason).toMatchObject({ code: 'cancelled', cause: 'The user pressed stop' });
  });
});

test('the reason in a message of a session over HTTP is the cause of the reason of ctx.signal', async () => {
  const { server, started, reason } = waiting();
  const serving = await serve(server, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  const client = await openSession(serving.url);
  const call = client.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait' } });
  await started;
  const params = { requestId: 7, reason: 'The user pressed stop' };
  await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  expect(await reason).toMatchObject({ code: 'cancelled', cause: 'The user pressed stop' });
  await call;
});

const session = { over: 'stdio', revision: '2025-11-25' } as const;

describe('the reason of a cancellation on the wire', () => {
  test('is the message of an McpError', async () => {
    const { cause } = await reasonOver(session, new McpError('overloaded', 'Out of time'));
    expect(cause).toBe('Out of time');
  });

  test.each([
    ['no reason', undefined],
    ['an error that is not for the peer', new Error('password: x')],
    ['an object', { secret: 'x' }],
  ])('is a plain sentence for %s', async (_, reason) => {
    expect((await reasonOver(session, reason)).cause).toBe('The call was cancelled');
  });

  test('has at most 500 characters', async () => {
    const { cause } = await reasonOver(session, 'x'.repeat(100_000));
    expect(String(cause)).toHaveLength(500);
  });
});

test.each(['2026-07-28', '2025-11-25'] as const)(
  'a proxy passes the reason of a cancellation on to a server of %s',
  async (revision) => {
    const { server, started, reason } = waiting();
    const channel = await serve(server, { port: 0, signals: false });
    onTestFinished(() => channel.close());
    const front = proxy(channel.url.replace('http', 'ws'), { revision });
    onTestFinished(() => front.close());
    const client = await connect(front);
    onTestFinished(() => client.close());
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal });
    await started;
    controller.abort('The user pressed stop');
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(await reason).toMatchObject({ code: 'cancelled', cause: 'The user pressed stop' });
  },
);
