import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { createServer, tool } from 'fullmcp';
import { bearer, hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  exchanging,
  guarded,
  overHttp,
  withLogins,
  withStoredTokens,
} from '../../../examples/proxy/proxy.js';

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

test('the exchanging proxy of the guide calls with the exchanged token of its caller', async () => {
  const asked: (string | null)[][] = [];
  const authorization = createHttpServer(async (request, response) => {
    const issuer = `http://${request.headers.host}`;
    const sent = new URLSearchParams(await readText(request));
    if (sent.size > 0) asked.push(['subject_token', 'resource', 'scope'].map((name) => sent.get(name)));
    const answer =
      sent.size > 0
        ? { access_token: 'of-the-server', token_type: 'Bearer', expires_in: 60 }
        : { issuer, token_endpoint: `${issuer}/token` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => authorization.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void authorization.close());
  const url = await serveBehind();
  const { port } = authorization.address() as AddressInfo;
  const between = exchanging(url, `http://127.0.0.1:${port}`, 'a secret');
  const auth = bearer(() => ({ subject: 'ada' }));
  const serving = await serve(between, { port: 0, signals: false, auth });
  onTestFinished(() => serving.close());
  await using client = await connect(serving.url, { auth: 'of-ada' });
  expect((await client.callTool('who')).text).toBe('Bearer of-the-server');
  expect(asked).toEqual([['of-ada', url, 'files']]);
});

test('the proxy of the guide with stored tokens calls with the token of each caller', async () => {
  const between = withStoredTokens(await serveBehind(), async (subject) => `token-of-${subject}`);
  onTestFinished(() => between.close());
  for (const subject of ['ada', 'ben']) {
    await using client = await connect(between, { caller: { subject } });
    expect((await client.callTool('who')).text).toBe(`Bearer token-of-${subject}`);
  }
});

test('the proxy of a program starts nothing until it is called', async () => {
  await overHttp().close();
});

test('the proxy of the guide with logins sends its user to the page, which another user cannot use', async () => {
  const vault = { get: () => undefined, set: () => undefined, delete: () => undefined };
  const userOf = async () => 'ben';
  const { upstream, handler } = withLogins(await serveBehind(), { vault, userOf }, 'a secret');
  onTestFinished(() => upstream.close());
  const replies: Response[] = [];
  const url = async (page: { readonly url: string }) => {
    replies.push(await handler(new Request(page.url)));
    return { action: 'decline' as const };
  };
  await using client = await connect(upstream, { caller: { subject: 'ada' }, elicit: { url } });
  await expect(client.callTool('who')).rejects.toThrow('refused');
  expect(replies.map(({ status }) => status)).toEqual([403]);
});
