import { createServer, McpError, type Middleware, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { circuitBreaker, retry } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { expect, it, onTestFinished } from 'vitest';

const definitions = {
  name: 'flaky',
  version: '1.0.0',
  resources: { 'a://b': resource({ read: () => 'content' }) },
  tools: { pay: tool({ run: () => 'paid' }) },
};

it('retries a read that a server over HTTP was too busy for, and not a tool', async () => {
  const refused: string[] = [];
  const busyOnce: Middleware = async (call, next) => {
    const name = String(call.params['name'] ?? call.params['uri']);
    if (!['a://b', 'pay'].includes(name) || refused.includes(name)) return next(call);
    refused.push(name);
    throw new McpError('overloaded', 'Busy', { data: { retryAfterMs: 1 } });
  };
  const serving = await serve(createServer({ ...definitions, use: [busyOnce] }), { port: 0, signals: false });
  const client = await connect(serving.url, { maxRetries: 0, use: [retry()] });
  onTestFinished(async () => {
    await client.close();
    await serving.close();
  });
  expect((await client.readResource('a://b')).text).toBe('content');
  await expect(client.callTool('pay')).rejects.toMatchObject({ status: 503 });
  expect(refused).toEqual(['a://b', 'pay']);
});

it('stops calling a server over HTTP that is gone, and calls it again when it is back', async () => {
  const states: string[] = [];
  const first = await serve(createServer(definitions), { port: 0, signals: false });
  const breaker = circuitBreaker({ failures: 2, openMs: 50, onChange: (state) => states.push(state) });
  const client = await connect(first.url, { maxRetries: 0, use: [breaker] });
  onTestFinished(() => client.close());
  expect((await client.callTool('pay')).text).toBe('paid');
  await first.close();
  const codes: string[] = [];
  while (!codes.includes('overloaded'))
    await client.callTool('pay').catch((error: McpError) => codes.push(error.code));
  expect(codes).toHaveLength(3);
  expect(states).toEqual(['open']);
  const second = await serve(createServer(definitions), { port: first.port, signals: false });
  onTestFinished(() => second.close());
  await expect
    .poll(
      () =>
        client.callTool('pay').then(
          ({ text }) => text,
          () => undefined,
        ),
      { timeout: 10_000 },
    )
    .toBe('paid');
  expect(states.at(-1)).toBe('closed');
});
