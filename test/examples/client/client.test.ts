import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, resource } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type Serving, serve } from 'fullmcp/node';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import math from '../../../examples/basic-server/server.js';
import * as calling from '../../../examples/client/calling.js';
import * as connecting from '../../../examples/client/connecting.js';
import * as many from '../../../examples/client/many.js';
import * as subscribing from '../../../examples/client/subscribing.js';
import { paid } from '../../../examples/tasks/idempotent.js';
import { ownDemo } from '../../support/examples/demo.js';
import { build } from '../../support/examples/program.js';
import { until } from '../../support/until.js';

const demo = await ownDemo();

// Runs the code that the pages about the client show.

const script = fileURLToPath(new URL('../../../build/examples/basic-server/stdio.js', import.meta.url));
let serving: Serving;
/** An address where nothing listens. */
let nowhere: string;

beforeAll(async () => {
  await build();
  serving = await serve(math, { port: 0, signals: false });
  const closed = await serve(createServer({ name: 'closed', version: '1.0.0' }), { port: 0, signals: false });
  nowhere = closed.url;
  await closed.close();
}, 120_000);
afterAll(() => serving.close());
beforeEach(() => {
  const quiet = vi.spyOn(console, 'error').mockReturnValue();
  return () => quiet.mockRestore();
});

describe('the connect examples', () => {
  test('connect to each kind of target', async () => {
    expect(await connecting.targets(serving.url, script)).toEqual([
      'http 3',
      'websocket 3',
      'stdio 3',
      'stdio 3',
      'in-process 3',
    ]);
  });

  test('connect to the first address of a list that can be reached', async () => {
    expect(await connecting.inOrder(nowhere, serving.url)).toBe(serving.url);
  });

  test('close the client after a call', async () => expect(await connecting.closing(serving.url)).toBe('3'));

  test('show why connecting failed', async () => {
    expect(await connecting.failed(nowhere)).toBe(
      `connect_failed: Cannot reach ${nowhere} (ECONNREFUSED): nothing listens there. Is the server running?`,
    );
  });

  test('connect with options', async () => {
    expect(await connecting.options(serving.url, { current: async () => 'secret' })).toBe('3');
    expect(await connecting.environment(script, tmpdir(), 'secret')).toBe('3');
  });

  test('connect with what is known of a server', async () =>
    expect(await connecting.again(serving.url)).toBe(3));

  test('show the state of the connection', async () => {
    expect(await connecting.states(serving.url)).toEqual(['ready', 'math', [], 0]);
  });
});

describe('the call examples', () => {
  test('read the parts of a result', async () =>
    expect(await calling.results()).toEqual(['3', 3, 1, false, 3]));

  test('throw the error of a tool that fails', async () => {
    await expect(calling.failure()).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'Order 7 does not exist. Try 1, 2 or 3.',
    });
  });

  test('call a tool through a typed client', async () => expect(await calling.typed(serving.url)).toBe(3));

  test('list tools, resources, templates and prompts', async () => {
    expect(await calling.lists()).toEqual([expect.arrayContaining(['add', 'order_pizza']), 1, 2, 1]);
  });

  test('read resources, get prompts and complete arguments', async () => {
    expect(await calling.others()).toEqual([
      'This is the demo of fullmcp.',
      1,
      2,
      ['bridges', 'bread', 'black holes', 'beavers'],
    ]);
  });

  test('show progress', async () => {
    const stop = new AbortController();
    expect(await calling.progress(stop.signal, 1)).toEqual(['0/3 3 to go', '1/3 2 to go', '2/3 1 to go']);
  });

  test('cancel a call', async () => {
    const stop = new AbortController();
    const running = calling.progress(stop.signal, 60_000);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('start a task and wait for it', async () => {
    expect(await calling.tasks()).toEqual([
      expect.stringMatching(/working|input_required/),
      'A golden bread',
    ]);
  });

  test('answer the question of a task by hand', async () => {
    const never = vi.fn();
    await using client = await connect(demo, { elicit: never });
    const { id = '', status } = await client.startTool('bake_bread', { stepMs: 1 });
    await until('the task asks', async () => (await status()).status === 'input_required');
    expect(await calling.byHand(client, id)).toBe('A dark bread');
    expect(never).not.toHaveBeenCalled();
  });

  test('make a call twice with one idempotency key, and it runs once', async () => {
    paid.length = 0;
    expect(await calling.safely()).toEqual(['Invoice 7 is paid', 'Invoice 7 is paid']);
    expect(paid).toEqual([7]);
  });

  test('send calls through middleware', async () => {
    const lines: string[] = [];
    await calling.wrapped(lines);
    expect(lines).toEqual([expect.stringMatching(/^tools\/call took \d+ ms$/)]);
  });

  test('know the source of results and errors', async () => {
    const [server, method, name, requestId] = await calling.source(serving.url);
    expect([server, method, name]).toEqual(['math', 'tools/call', 'add']);
    const reported = { server, method, name: 'subtract', requestId: Number(requestId) + 1 };
    expect(console.error).toHaveBeenCalledWith(expect.stringContaining('subtract'), reported);
  });
  test('handle errors by their codes', async () => expect(await calling.errors(serving.url)).toBe('done'));

  test('make a single call without keeping a client', async () =>
    expect(await calling.oneShots(serving.url)).toEqual([3, 1, '5']));
});

describe('the subscribe examples', () => {
  test('follow a resource', async () => {
    await using client = await connect(demo);
    const texts: string[] = [];
    const watching = subscribing.oneResource(client, (text) => texts.push(text) < 2);
    await until('two changes have been reported', async () => {
      await client.callTool('add_note', { text: `note ${texts.length}` });
      return texts.length === 2;
    });
    await watching;
    expect(texts[0]).toContain('note 0');
    expect(client.pending()).toEqual([]);
  });

  test('follow lists and a resource', async () => {
    await using client = await connect(demo);
    const changes: unknown[] = [];
    expect(await subscribing.lists(client, (change) => changes.push(change))).toEqual({
      resources: true,
      uris: ['notes://all'],
    });
    await client.callTool('add_note', { text: 'three' });
    await until('the change has been reported', () => changes.length > 0);
    expect(changes).toEqual([{ kind: 'resource', uri: 'notes://all' }]);
  });

  test('end when their signal aborts', async () => {
    await using client = await connect(demo);
    const stop = new AbortController();
    const counting = subscribing.untilAborted(client, stop.signal);
    await until('the subscription is open', () => client.pending().length === 1);
    stop.abort();
    expect(await counting).toBe(0);
  });

  test('follow a task', async () => {
    await using client = await connect(demo, { elicit: () => ({ action: 'cancel' }) });
    const statuses = await subscribing.ofTask(client);
    expect(statuses.at(-1)).toMatch(/^input_required/);
  });

  test('resume after a restart of the server, and report everything as changed', async () => {
    const room = (): Promise<Serving> =>
      serve(
        createServer({
          name: 'room',
          version: '1.0.0',
          changes: true,
          resources: { 'room://light': resource({ read: () => 'on' }) },
        }),
        { port: Number(new URL(url).port), signals: false, drainMs: 0 },
      );
    let url = 'http://127.0.0.1:0/mcp';
    const before = await room();
    url = before.url;
    await using client = await connect(url);
    const changes: unknown[] = [];
    await client.subscribe('room://light', { onChange: (change) => changes.push(change) });
    await before.close();
    const after = await room();
    try {
      await until('a change has been reported', () => changes.length > 0);
      expect(changes).toEqual([{ kind: 'resource', uri: 'room://light' }]);
    } finally {
      await client.close();
      await after.close();
    }
  });
});

describe('the examples with many servers', () => {
  test('combine several servers in one client', async () => {
    await using client = await many.several(script, serving.url, 'secret');
    expect([...client.servers.values()].map(({ status }) => status)).toEqual(['idle', 'idle', 'idle']);
    const results = await many.use(client);
    expect(results).toEqual(expect.arrayContaining(['math_add', 'shop_add', 'demo_add', '3', 'This']));
    expect(await many.one(client)).toBe('3');
    expect(await many.changing(client)).toEqual(['3', 'math', 'shop', 'demo']);
  });

  test('read the servers from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mcp-'));
    try {
      const config = `{ "mcpServers": { "math": { "command": "node", "args": ["$\{SCRIPT}"] } } }`;
      await writeFile(join(folder, 'mcp.json'), config);
      vi.stubEnv('SCRIPT', script);
      expect(await many.fromFile(join(folder, 'mcp.json'))).toEqual(['math_add']);
    } finally {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('report the failure of one server and use the others', async () => {
    expect(await many.failing(nowhere)).toEqual([
      1,
      'ready',
      { status: 'failed', error: expect.objectContaining({ code: 'connect_failed' }) },
    ]);
  });
});
