import { createServer, tool } from 'fullmcp';
import { hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exchanging, guarded, overHttp } from '../../../examples/proxy/proxy.js';

// Runs the code that docs/proxy.md shows.

async function serveBehind(): Promise<string> {
  const server = createServer({
    ...{ name: 'behind', version: '1.0.0', logger: () => undefined },
    use: [
      async (call, next) => {
        if (call.method !== 'tools/call') return next(call);
        const text = call.http?.header('authorization') ?? 'nobody';
        return { resultType: 'complete', content: [{ type: 'text', text }] };
      },
    ],
    tools: { who: tool({ run: () => '' }) },
  });
  const serving = await serve(server, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  return serving.url;
}

test('the guarded proxy of the guide takes keys of its own and calls with its own token', async () => {
  vi.stubEnv('UPSTREAM_TOKEN', 'of-the-proxy');
  onTestFinished(() => void vi.unstubAllEnvs());
  const key = 'a-key-of-one-caller-that-is-long-enough';
  const keys = [{ hash: await hashApiKey(key), subject: 'ada', scopes: [] }];
  const serving = await guarded(await serveBehind(), keys, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  await using client = await connect(serving.url, { auth: key });
  expect((await client.callTool('who')).text).toBe('Bearer of-the-proxy');
  await expect(connect(serving.url, { auth: 'another key' })).rejects.toThrow();
});

test('the exchanging proxy of the guide calls with the token of each caller', async () => {
  const between = exchanging(await serveBehind(), async (subject) => `token-of-${subject}`);
  onTestFinished(() => between.close());
  for (const subject of ['ada', 'ben']) {
    await using client = await connect(between, { caller: { subject } });
    expect((await client.callTool('who')).text).toBe(`Bearer token-of-${subject}`);
  }
});

test('the proxy of a program starts nothing until it is called', async () => {
  await overHttp().close();
});
