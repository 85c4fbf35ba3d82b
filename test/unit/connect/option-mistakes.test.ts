import { describe, expect, test } from 'vitest';
import { callTool, connect, McpError, withClient } from '../../../src/client.js';
import { createServer, tool } from '../../../src/index.js';

// Options of a program in JavaScript, which no compiler checks.

// biome-ignore lint/suspicious/noExplicitAny: what a JavaScript program may give
type Anything = any;

const server = createServer({ name: 'math', version: '1', tools: { t: tool({ run: () => 1 }) } });

async function mistake(doing: Promise<unknown>): Promise<string> {
  const error = await doing.then(
    () => new Error('It went well'),
    (reason) => reason,
  );
  expect(McpError.is(error), String(error)).toBe(true);
  expect(['invalid_request', 'invalid_params']).toContain(error.code);
  return error.message;
}

describe('connect', () => {
  test.each<[Anything, RegExp]>([
    [{ timeout: 5 }, /^connect has no option "timeout"\. Did you mean "timeoutMs"\?$/],
    [{ reconect: false }, /"reconect"\. Did you mean "reconnect"\?/],
    [{ elicitation: () => {} }, /Did you mean "elicit"\?/],
    [{ capabilities: {} }, /declares capabilities from its handlers/],
    [{ elicit: { forms: () => {} } }, /`elicit` has no field "forms"\. Did you mean "form"\?/],
    [{ elicit: 'yes' }, /`elicit` must be a function/],
    [{ sample: { tools: true } }, /`sample` needs `run`/],
    [{ sample: { run: () => {}, tool: true } }, /`sample` has no field "tool"\. Did you mean "tools"\?/],
    [{ roots: 'file:///x' }, /`roots` must be an array/],
    [{ reconnect: { attempts: 3 } }, /`reconnect` has no field "attempts"\. Did you mean "maxAttempts"\?/],
    [{ reconnect: 3 }, /`reconnect` must be true, false or/],
    [{ timeoutMs: '5' }, /`timeoutMs` must be a non-negative number/],
    [{ connectTimeoutMs: Number.NaN }, /`connectTimeoutMs` must be a non-negative number/],
    [{ use: () => {} }, /`use` must be an array/],
    ['fast', /options must be an object/],
  ])('rejects the options %o', async (options, message) => {
    expect(await mistake(connect(server, options))).toMatch(message);
  });

  test('reports all mistakes in its options at once', async () => {
    const message = await mistake(connect(server, { timeout: 1, retries: 2, maxRounds: -1 } as Anything));
    expect(message.split('\n')).toHaveLength(3);
  });

  test.each<[Anything, RegExp]>([
    [{ command: 'node', args: 'x.js' }, /`args` must be an array of strings: \["x\.js"\]/],
    [{ command: 'node', args: [1] }, /`args` must be an array of strings/],
    [{ command: '', env: 'X=1', cwd: 1 }, /`command`.*`env`.*`cwd`/],
    [{ command: 'node', arguments: ['x.js'] }, /has no field "arguments"\. Did you mean "args"\?/],
    [{ url: 'http://localhost:1/mcp', header: {} }, /has no field "header"\. Did you mean "headers"\?/],
    [{ url: 'http://localhost:1/mcp', auth: 'x' }, /Pass `auth` in the options of connect\(\)/],
    ['localhost:3000/mcp', /has no scheme\. Write http:\/\/localhost:3000\/mcp$/],
    ['localhost/mcp', /Write http:\/\/localhost\/mcp$/],
    ['127.0.0.1:3000', /Write http:\/\/127\.0\.0\.1:3000$/],
    ['example.com/mcp', /Write https:\/\/example\.com\/mcp$/],
    ['api.example.com:8443/mcp', /Write https:\/\/api\.example\.com:8443\/mcp$/],
    [{ url: 'localhost:3000/mcp' }, /Write http:\/\/localhost:3000\/mcp$/],
    ['some-server', /"some-server" is not a target\./],
    [7, /7 is not a target/],
  ])('rejects the target %j', async (target, message) => {
    expect(await mistake(connect(target))).toMatch(message);
  });

  test('accepts the `type` in an entry of a config file', async () => {
    const error = await connect({ type: 'stdio', command: 'no-such-command' } as Anything).catch(
      (reason) => reason,
    );
    expect(error.code).toBe('connect_failed');
  });
});

describe('a call', () => {
  test('rejects an unknown option and a timeout that is not a number, and accepts its own options', async () => {
    await using client = await connect(server);
    const timeout = { timeout: 5 } as Anything;
    expect(await mistake(client.callTool('t', {}, timeout))).toBe(
      'tools/call has no option "timeout". Did you mean "timeoutMs"?',
    );
    expect(await mistake(client.callTool('t', {}, { onprogress() {} } as Anything))).toMatch(/"onProgress"/);
    expect(await mistake(client.callTool('t', {}, { timeoutMs: '1s' } as Anything))).toMatch(/`timeoutMs`/);
    expect(await mistake(client.tool['t']?.({}, timeout) as Promise<unknown>)).toMatch(/"timeoutMs"/);
    expect(await mistake(client.tools(timeout).all())).toMatch(/"timeoutMs"/);
    expect(await mistake(client.readResource('a://b', timeout))).toMatch(/"timeoutMs"/);
    expect(await mistake(client.request('x', {}, timeout))).toMatch(/"timeoutMs"/);
    expect(await mistake(client.ping(timeout))).toMatch(/"timeoutMs"/);
    expect(await mistake(client.subscribe({ uri: 'a://b' } as Anything))).toMatch(/Did you mean "uris"\?/);
    const stop = new AbortController();
    const result = await client.callTool(
      't',
      {},
      { idempotencyKey: 'k', signal: stop.signal, timeoutMs: 1000 },
    );
    expect(result.data).toBe(1);
  });
});

describe('a one-shot', () => {
  test('accepts the options of both the connection and the call, and rejects others', async () => {
    const options = {
      client: { name: 'x', version: '1' },
      timeoutMs: 5000,
      idempotencyKey: 'k',
      onProgress() {},
    };
    expect((await callTool(server, 't', {}, options)).data).toBe(1);
    expect(await mistake(callTool(server, 't', {}, { timeout: 5 } as Anything))).toMatch(
      /callTool has no option "timeout"\. Did you mean "timeoutMs"\?/,
    );
    expect(await mistake(withClient(server, () => 1, { timeout: 5 } as Anything))).toMatch(/"timeoutMs"/);
  });
});
