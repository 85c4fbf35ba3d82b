import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import {
  jitiRegister,
  typeScriptProcess,
  withoutTypeScript,
} from '../../../src/adapters/node/client/typescript.js';
import {
  type Client,
  callTool,
  connect,
  type GroupClient,
  getPrompt,
  KnownServers,
  listTools,
  ResultCache,
  readResource,
  serverInfo,
  withClient,
} from '../../../src/client.js';
import { connect as connectInBrowser } from '../../../src/client-web.js';
import { createServer, prompt, resource, tool } from '../../../src/index.js';
import { McpError } from '../../../src/protocol/errors.js';
import { type Socket, serveWebSocket } from '../../../src/websocket.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { startServer } from './fixtures/http-servers.js';
import { notedServer, script } from './fixtures/processes.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
  vi.unstubAllEnvs();
});

function closeLater<T extends { close(): unknown }>(one: T): T {
  undo.push(() => one.close());
  return one;
}

function math() {
  return createServer({
    name: 'math',
    version: '1.0.0',
    tools: {
      add: tool({
        input: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        } as const,
        run: ({ a, b }) => (a as number) + (b as number),
      }),
      who: tool({ run: (_input, { auth }) => auth?.subject ?? 'nobody' }),
    },
    resources: { 'config://app': resource({ read: () => 'the config' }) },
    prompts: { greet: prompt({ run: () => 'Say hello' }) },
  });
}

async function failureOf(connecting: Promise<unknown>): Promise<McpError> {
  const error = await connecting.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!McpError.is(error)) throw new Error('It did not fail as it should', { cause: error });
  return error;
}

describe('a server in this process', () => {
  test('can be passed as an object, with its types', async () => {
    const client = closeLater(await connect(math()));
    expect(client.info()).toMatchObject({ transport: 'in-process', revision: '2026-07-28' });
    expect((await client.callTool('add', { a: 1, b: 2 })).data).toBe(3);
    expectTypeOf(client.tool.add).returns.resolves.toEqualTypeOf<number>();
    expect(await client.tool.add({ a: 1, b: 2 })).toBe(3);
  });

  test('can be passed as a Dispatch, with a caller', async () => {
    const caller = { subject: 'ada', scopes: [], claims: {} };
    const client = closeLater(await connect(math().dispatch, { caller }));
    expect((await client.callTool('who')).text).toBe('ada');
  });
});

describe('a script as a target', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-scripts-'));
  const session = join(folder, 'server.mjs');
  writeFileSync(
    session,
    `process.argv[2] = 'session';\nawait import(${JSON.stringify(pathToFileURL(script))});\n`,
  );

  test.each<[what: string, target: string | URL]>([
    ['a path', session],
    ['a URL', pathToFileURL(session)],
    ['a URL as a string', pathToFileURL(session).href],
  ])('can be %s', async (_what, target) => {
    const client = closeLater(await connect(target));
    expect(client.info()).toMatchObject({ transport: 'stdio', revision: '2025-11-25' });
  });

  test('is reported if it does not exist', async () => {
    expect((await failureOf(connect('nowhere.js'))).message).toMatch(
      /^There is no file nowhere\.js \(looked in /,
    );
    expect((await failureOf(connect('node nowhere.js'))).message).toContain(
      "write { command: 'node', args: ['nowhere.js'] }",
    );
  });

  test('in TypeScript runs with jiti if Node cannot, and with npx tsx if jiti is not installed', async () => {
    const file = join(folder, 'broken.ts');
    writeFileSync(file, 'const code: number = 7;\nprocess.exit(code);\n');
    vi.stubEnv('PATH', folder);
    expect((await failureOf(connect(file))).data).toMatchObject({ exitCode: 7 });
    const register = jitiRegister(file);
    expect(register).toMatch(/^file:.*jiti.*register/);
    expect(typeScriptProcess(file, register).args).toEqual(['--import', register, file]);
    expect(typeScriptProcess(file, undefined)).toEqual({ command: 'npx', args: ['tsx', file] });
    expect(withoutTypeScript()).toContain('install jiti (npm install --save-dev jiti)');
  });

  test('in Python is reported with the missing Python', async () => {
    const file = join(folder, 'server.py');
    writeFileSync(file, 'raise SystemExit(1)\n');
    vi.stubEnv('PATH', folder);
    const error = await failureOf(connect(file));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain('the Python on the PATH');
  });

  test('has its stderr delivered to a listener by lines', async () => {
    const lines: string[] = [];
    const { target, remove } = notedServer('broken');
    undo.push(remove);
    await failureOf(
      connect(target, { stderr: (line) => lines.push(line), knownServers: new KnownServers() }),
    );
    expect(lines).toContain('MY_KEY is not set');
  });

  test('may be a config file, which is connected as a group', async () => {
    const file = join(folder, 'mcp.json');
    const { execPath: command } = process;
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { command, args: [script, 'modern'] } } }));
    const client = closeLater(await connect(file));
    expect(client.info().transport).toBe('group');
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['one_pid']);
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
  });
});

test('a config is connected as a group, and has its type', async () => {
  const config = { mcpServers: { math: { target: math() } } };
  const client = closeLater(await connect(config));
  expectTypeOf(client).toEqualTypeOf<GroupClient>();
  expect([...client.servers.keys()]).toEqual(['math']);
  expect((await client.callTool('math_add', { a: 1, b: 2 })).data).toBe(3);
});

describe('an array of targets', () => {
  test('connects to the first that is ready, and starts none after it', async () => {
    const server = math();
    const untouched = notedServer('modern');
    undo.push(untouched.remove);
    const client = closeLater(
      await connect([{ command: 'no-such-command' }, 'http://127.0.0.1:1/mcp', server, untouched.target]),
    );
    expect(client.info().transport).toBe('in-process');
    expect(untouched.pids()).toEqual([]);
  });

  test('fails with one line for each target if none is ready', async () => {
    const http = await startServer(404);
    undo.push(http.close);
    const server = notedServer('broken');
    undo.push(server.remove);
    const error = await failureOf(
      connect(
        [{ command: 'no-such-command', args: ['serve', '--key', 'secret'] }, http.url, [server.target]],
        {
          knownServers: new KnownServers(),
        },
      ),
    );
    expect(error).toMatchObject({
      code: 'connect_failed',
      data: {
        attempts: [
          { target: 'no-such-command serve …', transport: 'stdio', code: 'connect_failed' },
          { target: http.url, transport: 'http', era: 'modern', code: 'unsupported_version' },
          { target: http.url, transport: 'http', era: 'session' },
          { target: http.url, transport: 'http+sse', era: 'http+sse' },
          { transport: 'stdio', code: 'connection_closed' },
        ],
      },
    });
    // One line for each target, and a heading.
    expect(error.message.split('\n')).toHaveLength(4);
    expect(error.message).not.toContain('secret');
    expect(error.cause).toBeUndefined();
  });

  test('stops when it is aborted', async () => {
    const server = notedServer('silent');
    undo.push(server.remove);
    const giveUp = new AbortController();
    const next = vi.fn(math().dispatch);
    const connecting = connect([server.target, next], { signal: giveUp.signal });
    connecting.catch(() => undefined);
    await until('the first has received a request', () => server.methods().length > 0);
    giveUp.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'cancelled' });
    expect(next).not.toHaveBeenCalled();
    await until('the process is gone', () => !server.pids().some(isAlive));
  });

  test('is validated before a target is tried, and must not be empty', async () => {
    const first = vi.fn(math().dispatch);
    expect(await failureOf(connect([first, 'npx foo']))).toMatchObject({ code: 'invalid_request' });
    expect(first).not.toHaveBeenCalled();
    expect(await failureOf(connect([]))).toMatchObject({ code: 'invalid_request' });
  });
});

describe('connect without a target', () => {
  test('uses MCP_SERVER_URL', async () => {
    const server = await startServer('both');
    undo.push(server.close);
    vi.stubEnv('MCP_SERVER_URL', server.url);
    const client = closeLater(await connect());
    expect(client.info().target).toBe(server.url);
    expect((await callTool(undefined, 'hello')).text).toBe('hello');
  });

  test.each(['', 'server.js'])('fails with a hint if MCP_SERVER_URL is not a URL (%j)', async (value) => {
    vi.stubEnv('MCP_SERVER_URL', value);
    const error = await failureOf(connect());
    expect(error.code).toBe('invalid_request');
    expect(error.message).toContain('MCP_SERVER_URL');
  });
});

describe('a WebSocket with a token', () => {
  test('sends the token in its handshake', async () => {
    const http = createHttp().listen(0, '127.0.0.1');
    const sockets = new WebSocketServer({ server: http });
    const tokens: (string | undefined)[] = [];
    sockets.on('connection', (socket, { headers }) => {
      tokens.push(headers.authorization);
      serveWebSocket(math(), socket as Socket);
    });
    await until('it listens', () => http.listening);
    undo.push(() => http.close());
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/`;
    const client = closeLater(await connect<ReturnType<typeof math>>(url, { auth: 'the-token' }));
    expectTypeOf(client.tool.add).returns.resolves.toEqualTypeOf<number>();
    expect(client.info().transport).toBe('websocket');
    expect(tokens).toEqual(['Bearer the-token']);
  });

  test('fails with the reason in a browser, which cannot send it', async () => {
    const error = await failureOf(connectInBrowser('ws://127.0.0.1:1/', { auth: 'the-token' }));
    expect(error.message).toContain('A WebSocket cannot send headers here');
  });
});

describe('connect in a browser', () => {
  test.each([[{ command: 'node' }], ['server.js'], ['mcp.json']])(
    'rejects %o with a reason',
    async (target) => {
      const error = await failureOf(connectInBrowser(target));
      expect(error.code).toBe('invalid_request');
      expect(error.message).toMatch(
        /^A browser cannot (start a process|read a file): connect to a URL instead\.$/,
      );
    },
  );

  test('accepts a URL', async () => {
    const server = await startServer('sessions');
    undo.push(server.close);
    const client = closeLater(await connectInBrowser(server.url));
    expect((await client.callTool('hello')).text).toBe('hello');
  });
});

test('a shared cache keeps the lists of two URLs of one server apart', async () => {
  const server = await startServer('both');
  undo.push(server.close);
  const cache = new ResultCache();
  const lists = ['a', 'a', 'b'].map((key) => `${server.url}?key=${key}`);
  for (const url of lists) await listTools(url, { cache });
  expect(server.requests.filter((request) => request === 'POST tools/list')).toHaveLength(2);
});

describe('one-shots', () => {
  test('make a single call each', async () => {
    const server = math();
    expect((await callTool(server, 'add', { a: 1, b: 2 })).data).toBe(3);
    expect((await listTools(server)).map(({ name }) => name)).toEqual(['add', 'who']);
    expect((await readResource(server, 'config://app')).text).toBe('the config');
    expect((await getPrompt(server, 'greet')).messages[0]?.content).toMatchObject({ text: 'Say hello' });
    expect((await serverInfo(server)).info).toMatchObject({ name: 'math' });
  });

  test('give each log message to onLog once', async () => {
    const talks = tool({ run: (_input, { log }) => log.info('hello') });
    const server = createServer({ name: 'talker', version: '1.0.0', tools: { talks } });
    const messages: unknown[] = [];
    await callTool(server, 'talks', {}, { onLog: ({ data }) => void messages.push(data) });
    expect(messages).toEqual(['hello']);
  });

  test('end the process that they started', async () => {
    const server = notedServer('modern');
    undo.push(server.remove);
    const { text } = await callTool(server.target, 'pid');
    expect(server.pids()).toEqual([Number(text)]);
    expect(isAlive(Number(text))).toBe(false);
  });

  test('end the process that they started even if the call fails', async () => {
    const server = notedServer('modern');
    undo.push(server.remove);
    let ownClient: Client | undefined;
    const using = withClient(server.target, (client) => {
      ownClient = client;
      throw new Error('mine');
    });
    await expect(using).rejects.toThrow('mine');
    expect(ownClient?.status).toBe('closed');
    expect(server.pids().filter(isAlive)).toEqual([]);
  });
});
