import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { createNodeHandler, serve } from 'fullmcp/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { makeAuthority } from '../support/http/authority.js';

// Limitations that pages name, of the client. A test passes while its limitation holds: when one fails, the feature has arrived, and
// the sentence that names the test must go, together with the test.

const quiet = { name: 'limits', version: '1.0.0', logger: () => undefined };
const schema = z.object({ sure: z.boolean() });
const yes = () => ({ action: 'accept' as const, content: { sure: true } });

test('on Node, the client does not call globalThis.fetch', async () => {
  await using serving = await serveHere();
  const fetch = vi.fn(() => Promise.reject(new Error('not this one')));
  vi.stubGlobal('fetch', fetch);
  onTestFinished(() => void vi.unstubAllGlobals());
  await using client = await connect(serving.url);
  expect((await client.callTool('hi')).text).toBe('hi');
  expect(fetch).not.toHaveBeenCalled();
});

test('on Node, the client speaks HTTP/1.1 to a server that offers HTTP/2', async () => {
  await using authority = await makeAuthority();
  const { cert, key } = await authority.issue('here');
  const versions = new Set<string>();
  const handler = createNodeHandler(hello());
  const http = createSecureServer({ allowHTTP1: true, cert, key }, (request, response) => {
    versions.add(request.httpVersion);
    void handler(request as never, response as never);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void http.close());
  await new Promise((resolve) => http.once('listening', resolve));
  const url = `https://localhost:${(http.address() as AddressInfo).port}/mcp`;
  await using client = await connect(url, { ca: authority.ca });
  expect((await client.callTool('hi')).text).toBe('hi');
  expect([...versions]).toEqual(['1.1']);
});

test('ALL_PROXY is ignored, and a SOCKS proxy is refused', async () => {
  await using serving = await serveHere();
  vi.stubEnv('ALL_PROXY', 'http://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  await using client = await connect(serving.url);
  expect((await client.callTool('hi')).text).toBe('hi');
  await expect(connect(serving.url, { proxy: 'socks5://127.0.0.1:1' })).rejects.toThrow(
    'socks5, which is not supported',
  );
});

test('a server of 2025-11-25 may ask more often than maxRounds', async () => {
  const server = createServer({
    ...quiet,
    tools: {
      asks: tool({
        run: async (_, ctx) => {
          for (let i = 0; i < 5; i++) await ctx.ask(`sure-${i}`, { message: `Sure ${i}?`, schema });
          return 'asked';
        },
      }),
    },
  });
  await using serving = await serve(server, { port: 0, signals: false });
  const options = { elicit: yes, maxRounds: 2 };
  await using old = await connect(serving.url, { ...options, revision: '2025-11-25' });
  expect((await old.callTool('asks')).text).toBe('asked');
  await using modern = await connect(serving.url, options);
  await expect(modern.callTool('asks')).rejects.toThrow();
});

test('while one call of a session asks the user, the timeouts of all its calls are paused', async () => {
  let answer = (): void => undefined;
  let asked = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const server = createServer({
    ...quiet,
    tools: {
      asks: tool({ run: async (_, ctx) => (await ctx.ask('sure', { message: 'Sure?', schema })).sure }),
      hangs: tool({
        run: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      }),
    },
  });
  await using serving = await serve(server, { port: 0, signals: false });
  const elicit = async () => {
    asked();
    await answered;
    return yes();
  };
  await using client = await connect(serving.url, { elicit, revision: '2025-11-25' });
  await using clock = await connect(serving.url, { revision: '2025-11-25' });
  const asking = client.callTool('asks');
  await isAsked;
  let ended = false;
  const hanging = client.callTool('hangs', {}, { timeoutMs: 50 }).catch((error: unknown) => {
    ended = true;
    return error;
  });
  // Another client, which is not asked, measures more than that time.
  await expect(clock.callTool('hangs', {}, { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timeout' });
  expect(ended).toBe(false);
  answer();
  await asking;
  expect(await hanging).toMatchObject({ code: 'timeout' });
});

test('a message that is too long, with its id in the middle, ends its call with a timeout', async () => {
  const program = `
    const say = (text) => process.stdout.write(text + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'long', version: '1' } };
        say(JSON.stringify({ jsonrpc: '2.0', id, result }));
      } else if (method === 'tools/call') {
        const long = 'x'.repeat(5000);
        say('{"jsonrpc":"2.0","before":"' + long + '","id":' + JSON.stringify(id) + ',"result":{"content":[],"after":"' + long + '"}}');
      } else say(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });`;
  const target = { command: process.execPath, args: ['-e', program] };
  await using client = await connect(target, { revision: '2025-11-25', maxMessageBytes: 4000 });
  await expect(client.callTool('any', {}, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'timeout' });
});

function hello() {
  return createServer({ ...quiet, tools: { hi: tool({ run: () => 'hi' }) } });
}

function serveHere() {
  return serve(hello(), { port: 0, signals: false });
}
