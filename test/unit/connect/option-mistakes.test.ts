import { describe, expect, test } from 'vitest';
import { callTool, connect, McpError, withClient } from '../../../src/client.js';
import { readGatewayOptions } from '../../../src/connect/gateway/options.js';
import { connectionTable, readProxyOptions } from '../../../src/connect/proxy/options.js';
import { pickOptions } from '../../../src/connect/targets/option-tables.js';
import { type GatewayOptions, gateway } from '../../../src/gateway.js';
import { createServer, tool } from '../../../src/index.js';
import { proxy } from '../../../src/proxy.js';

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
    [{ constructor: 5 }, /^connect has no option "constructor"\./],
    [{ toString: () => 'x' }, /^connect has no option "toString"\./],
    [JSON.parse('{ "__proto__": 5 }'), /^connect has no option "__proto__"\./],
    [{ elicitation: () => {} }, /Did you mean "elicit"\?/],
    [{ capabilities: {} }, /declares capabilities from its handlers/],
    [{ elicit: { forms: () => {} } }, /connect has no option "elicit\.forms"\. Did you mean "form"\?/],
    [{ elicit: 'yes' }, /connect: "elicit" must be a function or an object, not a string\./],
    [{ sample: { tools: true } }, /connect: "sample\.run" must be a function, not undefined\./],
    [
      { sample: { run: () => {}, tool: true } },
      /connect has no option "sample\.tool"\. Did you mean "tools"\?/,
    ],
    [{ roots: 'file:///x' }, /connect: "roots" must be a function or an array, not a string\./],
    [
      { reconnect: { attempts: 3 } },
      /connect has no option "reconnect\.attempts"\. Did you mean "maxAttempts"\?/,
    ],
    [{ reconnect: 3 }, /connect: "reconnect" must be a boolean or an object, not 3\./],
    [{ timeoutMs: '5' }, /connect: "timeoutMs" must be a number, 0 or more, not "5"\./],
    [{ connectTimeoutMs: Number.NaN }, /connect: "connectTimeoutMs" must be a number, 0 or more, not NaN\./],
    [{ use: () => {} }, /connect: "use" must be an array, not a function\./],
    ['fast', /options must be an object/],
  ])('rejects the options %o', async (options, message) => {
    expect(await mistake(connect(server, options))).toMatch(message);
  });

  test('reports all mistakes in its options at once', async () => {
    const message = await mistake(connect(server, { timeout: 1, retries: 2, maxRounds: -1 } as Anything));
    expect(message.split('\n')).toHaveLength(3);
  });

  test('accepts the `type` in an entry of a config file', async () => {
    const error = await connect({ type: 'stdio', command: 'no-such-command' } as Anything).catch(
      (reason) => reason,
    );
    expect(error.code).toBe('connect_failed');
  });
});

describe('a target with a mistake', () => {
  test.each<[Anything, RegExp]>([
    [{ command: 'node', arg: [] }, /A target { command } has no option "arg"\. Did you mean "args"\?/],
    [[server, { command: 'node', arg: [] }], /has no option "arg"\. Did you mean "args"\?/],
    [
      { command: 'node', args: 'x.js' },
      /A target { command }: "args" must be an array of strings, not a string\./,
    ],
    [{ command: 'node', args: [1] }, /"args" must be an array of strings, not an array\./],
    [{ command: 1, env: 'X=1', cwd: 1 }, /"command" must be a string, not 1\.\n.*"env".*\n.*"cwd"/],
    [{ command: '' }, /A target { command }: "command" must not be empty\./],
    [{ command: 'node', arguments: ['x.js'] }, /has no option "arguments"\. Did you mean "args"\?/],
    [{ url: 'http://localhost:1/mcp', header: {} }, /has no option "header"\. Did you mean "headers"\?/],
    [{ url: 'http://localhost:1/mcp', auth: 'x' }, /Pass `auth` in the options\./],
    ['localhost:3000/mcp', /has no scheme\. Write http:\/\/localhost:3000\/mcp$/],
    ['localhost/mcp', /Write http:\/\/localhost\/mcp$/],
    ['127.0.0.1:3000', /Write http:\/\/127\.0\.0\.1:3000$/],
    ['example.com/mcp', /Write https:\/\/example\.com\/mcp$/],
    ['api.example.com:8443/mcp', /Write https:\/\/api\.example\.com:8443\/mcp$/],
    [{ url: 'localhost:3000/mcp' }, /Write http:\/\/localhost:3000\/mcp$/],
    ['some-server', /"some-server" is not a target\./],
    [7, /7 is not a target/],
    [null, /null is not a target/],
    [[server, null], /null is not a target/],
    [[], /The array of targets is empty\./],
    [[[]], /The array of targets is empty\./],
  ])('is refused by `connect` and by `proxy` with the same error: %j', async (target, message) => {
    expect(await mistake(connect(target))).toMatch(message);
    const refused = mistake(new Promise((resolve) => resolve(proxy(target))));
    expect(await refused).toBe(await mistake(connect(target)));
  });
});

describe('an option that is a wrong number', () => {
  test.each<[Anything, string]>([
    [{ connectTimeoutMs: Number.NaN }, 'connectTimeoutMs'],
    [{ probeTimeoutMs: '5' }, 'probeTimeoutMs'],
    [{ maxMessageBytes: -1 }, 'maxMessageBytes'],
  ])('is refused at once by `connect`, `proxy` and `gateway`: %o', async (options, name) => {
    expect(await mistake(connect(server, options))).toContain(name);
    expect(() => proxy(server, options)).toThrow(name);
    expect(() => gateway('mcp.json', options)).toThrow(name);
  });

  test.each<[Anything, string]>([
    [{ maxConnections: 0 }, '"maxConnections" must be an integer, 1 or more, not 0.'],
    [{ idleMs: -1 }, '"idleMs" must be a number of milliseconds'],
    [{ answerMs: '1s' }, '"answerMs" must be a number of milliseconds'],
  ])('is refused at once by `proxy` and `gateway`: %o', (options, message) => {
    expect(() => proxy(server, options)).toThrow(message);
    expect(() => gateway('mcp.json', options)).toThrow(message);
  });

  test('is refused under the name of the function that was called', () => {
    expect(() => proxy(server, { maxConnections: 0 })).toThrow('proxy: "maxConnections"');
    expect(() => gateway('mcp.json', { maxConnections: 0 })).toThrow('gateway: "maxConnections"');
    expect(() => gateway('mcp.json', { listTimeoutMs: -1 })).toThrow('gateway: "listTimeoutMs"');
    expect(() => gateway('mcp.json', { drainMs: -1 })).toThrow('"drainMs"');
    expect(() => gateway('mcp.json', { healthMs: -1 })).toThrow('"healthMs"');
  });
});

test('a gateway passes on the options of connections, and none of its own', () => {
  const own: GatewayOptions = { name: 'x', allow: () => true, search: true };
  const options: GatewayOptions = { connectTimeoutMs: 1, maxConnections: 2, fetch, ...own };
  expect(pickOptions(options, connectionTable)).toEqual({ connectTimeoutMs: 1, maxConnections: 2, fetch });
  for (const key of Object.keys(connectionTable)) {
    expect(() => readProxyOptions({ [key]: undefined })).not.toThrow();
    expect(() => readGatewayOptions({ [key]: undefined })).not.toThrow();
  }
});

describe('a call', () => {
  test('rejects an unknown option and a timeout that is not a number, and accepts its own options', async () => {
    await using client = await connect(server);
    const timeout = { timeout: 5 } as Anything;
    expect(await mistake(client.callTool('t', {}, timeout))).toBe(
      'tools/call has no option "timeout". Did you mean "timeoutMs"?',
    );
    expect(await mistake(client.callTool('t', {}, { onprogress() {} } as Anything))).toMatch(/"onProgress"/);
    expect(await mistake(client.callTool('t', {}, { timeoutMs: '1s' } as Anything))).toMatch(
      /tools\/call: "timeoutMs" must be a number, 0 or more, not "1s"\./,
    );
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

test.each(['constructor', 'toString', 'valueOf'])(
  'a call has no option %s, which every object inherits',
  async (name) => {
    await using client = await connect(server);
    const options: Anything = { [name]: 5 };
    expect(await mistake(client.callTool('t', {}, options))).toContain(`has no option "${name}".`);
  },
);
