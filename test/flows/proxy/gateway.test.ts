import { mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { type Gateway, gateway } from 'fullmcp/gateway';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../src/node.js';
import { type Connection, connectTo, type Row } from '../../interop/support/connections.js';
import {
  type ObservedServer,
  pathInPackage,
  processesWith,
  startObservedAt,
} from '../../interop/support/observed-server.js';
import { until } from '../../support/until.js';

// The official client through a gateway to servers of other makers and of other years: two programs, a server of today over HTTP, and one
// that speaks HTTP+SSE as in 2024.

const everything = pathInPackage('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = pathInPackage('@modelcontextprotocol/server-filesystem/dist/index.js');

let folder: string;
let config: string;
let old: ObservedServer;
let remote: Serving;
let hub: Gateway;
let front: Serving;
const log: string[] = [];
/** Processes that another file of tests in this process has started, and that have not ended yet. */
const strangers = new Set<string>();

function remoteServer(text = 'from afar') {
  return createServer({
    name: 'remote',
    version: '1',
    logger: () => undefined,
    tools: {
      far: tool({ run: () => text }),
      sum: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => String(a + b) }),
    },
  });
}

function entries(more: object = {}): object {
  return {
    every: { command: process.execPath, args: [everything, 'stdio'] },
    files: { command: process.execPath, args: [filesystem, folder] },
    far: { url: remote.url },
    old: { url: `${old.origin}/sse` },
    ...more,
  };
}

async function save(servers: object): Promise<void> {
  await writeFile(`${config}.new`, JSON.stringify({ mcpServers: servers }));
  await rename(`${config}.new`, config);
}

beforeAll(async () => {
  for (const words of ['server-everything', 'server-filesystem'])
    for (const pid of await pidsOf(words)) strangers.add(pid);
  folder = await realpath(await mkdtemp(join(tmpdir(), 'gateway-')));
  config = join(folder, 'mcp.json');
  old = await startObservedAt(0, everything, 'sse');
  remote = await serve(remoteServer(), { port: 0, signals: false });
  await save(entries());
  hub = gateway(config, { watchMs: 20, logger: (_level, message) => log.push(message) });
  front = await serve(hub, { port: 0, signals: false });
}, 30_000);

afterAll(async () => {
  await front?.close();
  await hub?.close();
  await remote?.close();
  await old?.stop();
  await rm(folder, { recursive: true, force: true });
});

const rows: readonly Row[] = [
  { who: 'v2 pinned', over: 'http', modern: true },
  { who: 'v2 legacy', over: 'http', modern: false },
];

describe.each(rows)('the official client ($who) through a gateway', (row) => {
  let it: Connection;
  const asked: string[] = [];
  const text = async (name: string, args: Record<string, unknown> = {}): Promise<string> =>
    (await it.call(name, args)).content[0]?.text ?? '';

  beforeAll(async () => {
    it = await connectTo(front.url, row, async ({ method, params }) => {
      asked.push(method);
      if (method === 'sampling/createMessage')
        return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } };
      if (method === 'roots/list') return { roots: [] };
      return { action: 'accept', content: { name: params?.message ?? 'Ada' } };
    });
  }, 30_000);

  afterAll(() => it?.close());

  test('lists what all servers have', async () => {
    const { tools } = await it.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['every_echo', 'files_read_text_file', 'far_sum', 'old_echo']),
    );
    const { prompts } = await it.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['every_simple-prompt', 'old_args-prompt']),
    );
    const { resources } = await it.client.listResources();
    expect(resources.map(({ name }) => name)).toContain('architecture.md');
    const { resourceTemplates } = await it.client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(2);
  });

  test('calls tools, reads resources, and gets and completes prompts of any server', async () => {
    expect(await text('every_get-sum', { a: 2, b: 40 })).toBe('The sum of 2 and 40 is 42.');
    expect(await text('far_sum', { a: 2, b: 40 })).toBe('42');
    expect(await text('old_echo', { message: 'hi' })).toBe('Echo: hi');
    const path = join(folder, `${row.who}.txt`);
    await it.call('files_write_file', { path, content: 'roses are red\n' });
    expect(await readFile(path, 'utf8')).toBe('roses are red\n');
    const { contents } = await it.client.readResource({ uri: 'demo://resource/dynamic/text/7' });
    expect(contents[0]?.text).toMatch(/^Resource 7/);
    const { messages } = await it.client.getPrompt({ name: 'old_args-prompt', arguments: { city: 'Oslo' } });
    expect(messages[0]?.content.text).toBe("What's weather in Oslo?");
    const { completion } = await it.client.complete({
      ref: { type: 'ref/prompt', name: 'every_completable-prompt' },
      argument: { name: 'department', value: 'S' },
    });
    expect(completion.values).toEqual(['Sales', 'Support']);
  });

  test('gets progress, and is asked by programs and by servers of 2024', async () => {
    const earlier = it.progress.length;
    await it.call(
      'every_trigger-long-running-operation',
      { duration: 0.02, steps: 4 },
      { onprogress: () => undefined },
    );
    expect(it.progress.slice(earlier).map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    for (const server of ['every', 'old']) {
      asked.length = 0;
      const sampled = await text(`${server}_trigger-sampling-request`, { prompt: 'A slogan', maxTokens: 50 });
      expect(sampled).toContain('Ada adds up');
      const { content } = await it.call(`${server}_trigger-elicitation-request`);
      expect(JSON.stringify(content)).toContain('User provided');
      expect(asked.filter((method) => method !== 'roots/list')).toEqual([
        'sampling/createMessage',
        'elicitation/create',
      ]);
    }
  });

  test('uses a server again that was killed and is back', async () => {
    const { port } = new URL(old.origin);
    await old.stop();
    await expect(it.call('old_echo', { message: 'hi' })).rejects.toThrow(/old/);
    expect(await text('every_echo', { message: 'hi' })).toBe('Echo: hi');
    old = await startObservedAt(Number(port), everything, 'sse');
    await until('the server of 2024 is used again', () =>
      text('old_echo', { message: 'back' }).then(
        (echo) => echo === 'Echo: back',
        () => false,
      ),
    );

    const { port: remotePort } = new URL(remote.url);
    await remote.close();
    await expect(it.call('far_far')).rejects.toThrow(/far/);
    remote = await serve(remoteServer('back again'), { port: Number(remotePort), signals: false });
    await until('the server over HTTP is used again', () =>
      text('far_far').then(
        (answer) => answer === 'back again',
        () => false,
      ),
    );

    const [program = ''] = await processesWith('server-filesystem');
    expect(program).not.toBe('');
    await killAll('server-filesystem');
    await until('the program is started again', () =>
      text('files_list_allowed_directories').then(
        (answer) => answer.includes(folder),
        () => false,
      ),
    );
  }, 60_000);

  test('keeps working while the config is edited, and only the changed server restarts', async () => {
    let isDone = false;
    let calls = 0;
    const failures: string[] = [];
    const load = Array.from({ length: 3 }, async () => {
      while (!isDone && calls < 1000) {
        for (const [name, args] of [
          ['every_echo', { message: 'hi' }],
          ['far_sum', { a: 1, b: 1 }],
          ['files_list_allowed_directories', {}],
        ] as const) {
          calls++;
          await it.call(name, args).catch((error: Error) => failures.push(`${name}: ${error.message}`));
        }
      }
    });
    try {
      await until('calls are made', () => calls > 30);
      const before = await pidsOf('server-everything');
      log.length = 0;
      await save(entries({ files: { command: process.execPath, args: [filesystem, folder, tmpdir()] } }));
      await until('the config was read', () => log.includes('The config was read: changed: files.'));
      const seen = calls;
      await until('calls are made after it', () => calls > seen + 30);
      expect(await pidsOf('server-everything')).toEqual(expect.arrayContaining([...before]));
    } finally {
      isDone = true;
      await Promise.all(load);
    }
    expect(failures).toEqual([]);
    expect(await text('files_list_allowed_directories')).toContain(tmpdir());
    await save(entries());
    await until(
      'the config is as before',
      () => log.filter((line) => line.includes('changed: files')).length > 1,
    );
  }, 60_000);
});

test.each(rows)(
  'a call of the official client ($who) that a program asks about midway runs once, and each step of its progress arrives once',
  async (row) => {
    const program = fileURLToPath(new URL('../fixtures/asks-midway.mjs', import.meta.url));
    const between = gateway(
      { mcpServers: { program: { command: process.execPath, args: [program] } } },
      { logger: () => undefined },
    );
    onTestFinished(() => between.close());
    const serving = await serve(between, { port: 0, signals: false });
    onTestFinished(() => serving.close());
    const it = await connectTo(serving.url, row, async () => ({ roots: [] }));
    onTestFinished(() => it.close());

    const { content } = await it.call('program_count', {}, { onprogress: () => undefined });
    expect(content).toEqual([{ type: 'text', text: 'run 1' }]);
    expect(it.progress.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    // A modern call is asked by an answer to it, and its second round has a token of its own.
    const tokens = it.progress.map(({ progressToken }) => progressToken);
    expect(new Set(tokens).size).toBe(row.modern ? 2 : 1);
  },
);

/** The ids of the processes whose command contains these words. */
async function pidsOf(words: string): Promise<readonly string[]> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...args]) => parent === String(process.pid) && args.join(' ').includes(words))
    .map(([pid = '']) => pid)
    .filter((pid) => !strangers.has(pid));
}

async function killAll(words: string): Promise<void> {
  for (const pid of await pidsOf(words)) process.kill(Number(pid), 'SIGKILL');
}
