import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer, inProcess, memoryStore, type Store, tool } from 'fullmcp';
import { afterAll, describe, expect, test } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { troubledTools } from '../fixtures/troubled-tools.mjs';

// A store that fails at each stage of a task: nothing is lost, no wrong status is reported, and the
// process survives.

/** The minimum duration of the failure. */
const TROUBLE_MS = Number(process.env['STORE_TROUBLE_MS'] ?? 0);
const timeout = 60_000 + 3 * TROUBLE_MS;
const extension = 'io.modelcontextprotocol/tasks';
const capabilities = { elicitation: {}, extensions: { [extension]: {} } };
const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), 'fullmcp-trouble-'));
let folders = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

type Params = Record<string, unknown>;

interface World {
  ask(method: string, params: Params): Promise<Params>;
  /** The lines that the tools have reported, in order. */
  reports(): readonly string[];
  /** Makes the store fail until `calm`. */
  trouble(): Promise<void>;
  calm(): Promise<void>;
  /** Stops the server and starts another on the same store. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** A server in this process, on a store that outlives it. */
function localWorld(store: Store, { trouble, calm }: Pick<World, 'trouble' | 'calm'>): World {
  const reports: string[] = [];
  const start = () =>
    createServer({
      name: 'troubled',
      version: '1.0.0',
      logger: () => undefined,
      secret: 'x'.repeat(32),
      store: { ...store, close: async () => undefined },
      tools: troubledTools(tool as never, (line) => void reports.push(line)) as object,
    });
  let server = start();
  return {
    ask: (method, params) => inProcess(server, { capabilities })(method, params),
    reports: () => reports,
    trouble,
    calm,
    async restart() {
      await server.drain({ drainMs: 0 });
      server = start();
      await server.start();
    },
    end: () => server.drain({ drainMs: 0 }),
  };
}

/** A store of which every operation fails for a while, as behind a broken network. */
async function unavailableStore(): Promise<World> {
  const inner = memoryStore();
  let isAvailable = true;
  const checkAvailable = (): void => {
    if (!isAvailable) throw new TypeError('fetch failed');
  };
  const available = async <T>(work: () => Promise<T>): Promise<T> => {
    checkAvailable();
    return work();
  };
  const store: Store = {
    get: (key) => available(() => inner.get(key)),
    page: (prefix, range) => available(() => inner.page(prefix, range)),
    items: (list, range) => available(() => inner.items(list, range)),
    write: (changes, options) => available(() => inner.write(changes, options)),
    claim: (queue, options) => available(() => inner.claim(queue, options)),
    renew: (leases, ms) => available(() => inner.renew(leases, ms)),
    size: (queue) => available(() => inner.size(queue)),
    close: async () => undefined,
  };
  const set = async (value: boolean): Promise<void> => {
    isAvailable = value;
  };
  return localWorld(store, { trouble: () => set(false), calm: () => set(true) });
}

/** A store that others have filled completely. */
async function fullStore(): Promise<World> {
  const store = memoryStore({ maxBytes: 1_000_000, kindShare: 1, callerShare: 1 });
  const ballast: string[] = [];
  return localWorld(store, {
    async trouble() {
      for (let size = 500_000; size >= 1; ) {
        const key = `ballast:${ballast.length}`;
        try {
          await store.write([{ do: 'put', key, value: { x: 'x'.repeat(size) } }]);
          ballast.push(key);
        } catch {
          size = Math.floor(size / 2);
        }
      }
    },
    async calm() {
      for (const key of ballast.splice(0)) await store.write([{ do: 'delete', key }]);
    },
  });
}

/** A store on a full disk, simulated by a limit on file size, which needs no privileges. */
async function fullDisk(): Promise<World> {
  const folder = join(root, `disk-${++folders}`);
  mkdirSync(folder);
  const fixture = fileURLToPath(new URL('../fixtures/troubled-server.mjs', import.meta.url));
  const reports: string[] = [];
  async function start() {
    const child = spawn(process.execPath, [fixture, folder], { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout });
    const url = new Promise<string>((resolve) =>
      lines.on('line', (line) => {
        if (line.startsWith('url ')) resolve(line.slice(4));
        else reports.push(line.slice('report '.length));
      }),
    );
    const exit = once(child, 'exit').then(() => Promise.reject(new Error('The server ended at once')));
    return { child, url: await Promise.race([url, exit]) };
  }
  let life = await start();
  const limit = (size: string) =>
    run('prlimit', ['--pid', String(life.child.pid), `--fsize=${size}:unlimited`]);
  return {
    async ask(method, params) {
      const headers = { 'mcp-name': (params['name'] ?? params['taskId']) as string };
      const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
      const { text } = await modern(life.url, method, params, { meta, headers });
      const { result, error } = JSON.parse(text) as { result?: Params; error?: { message: string } };
      if (result === undefined) throw new Error(error?.message);
      return result;
    },
    reports: () => reports,
    trouble: async () => void (await limit('1')),
    calm: async () => void (await limit('unlimited')),
    async restart() {
      expect(await ended(life.child, () => life.child.kill('SIGTERM'))).toBe(0);
      life = await start();
    },
    async end() {
      expect(await ended(life.child, () => life.child.kill('SIGTERM'))).toBe(0);
    },
  };
}

describe.each([
  ['an unavailable store', unavailableStore],
  ['a full store', fullStore],
  ['a full disk', fullDisk],
] as const)('a task on %s', (kind, create) => {
  async function inTrouble(
    name: string,
    scene: (world: World, taskId: unknown) => Promise<void>,
  ): Promise<void> {
    const world = await create();
    try {
      const { taskId } = await world.ask('tools/call', { name, arguments: {} });
      await scene(world, taskId);
    } finally {
      await world.end();
    }
  }

  const status = async (world: World, taskId: unknown): Promise<unknown> =>
    (await world.ask('tasks/get', { taskId }))['status'];
  const reaches = (world: World, taskId: unknown, expected: string) =>
    until(`the task is ${expected}`, async () => (await status(world, taskId)) === expected, 15_000);
  const openGate = (world: World, gate: string) =>
    world.ask('tools/call', { name: 'open', arguments: { gate } });
  /** Lets the failure last while the server keeps answering. */
  async function waitInTrouble(world: World): Promise<void> {
    const over = performance.now() + TROUBLE_MS;
    for (let calls = 0; calls < 10 || performance.now() < over; calls++) {
      await openGate(world, 'nothing');
      if (TROUBLE_MS > 0) await setTimeout(100);
    }
  }

  test('pauses at the end of a step until the store works again, and runs each step once', { timeout }, () =>
    inTrouble('steps', async (world, taskId) => {
      await until('the first step runs', () => world.reports().includes('begin one'));
      await world.trouble();
      await openGate(world, 'one');
      await until('the first step has ended', () => world.reports().includes('end one'));
      await waitInTrouble(world);
      expect(world.reports()).toEqual(['begin one', 'end one']);
      expect(await status(world, taskId)).toBe('working');
      await world.calm();
      for (const gate of ['two', 'three']) await openGate(world, gate);
      await reaches(world, taskId, 'completed');
      const all = ['one', 'two', 'three'].flatMap((name) => [
        `begin ${name}`,
        `end ${name}`,
        `after ${name}`,
      ]);
      expect(world.reports()).toEqual(all);
      await world.restart();
      expect(await status(world, taskId)).toBe('completed');
      expect(world.reports()).toEqual(all);
    }),
  );

  test(
    'rejects an answer that cannot be saved: the handler does not get it, and the client can answer again',
    { timeout },
    () =>
      inTrouble('asks', async (world, taskId) => {
        await reaches(world, taskId, 'input_required');
        await world.trouble();
        const give = (word: string) =>
          world.ask('tasks/update', {
            taskId,
            inputResponses: { word: { action: 'accept', content: { word } } },
          });
        await expect(give('first '.repeat(100))).rejects.toThrow(
          'The answers could not be saved, and the questions are open again. Try again later.',
        );
        await waitInTrouble(world);
        expect(await world.ask('tasks/get', { taskId })).toMatchObject({
          status: 'input_required',
          inputRequests: { word: {} },
        });
        expect(world.reports()).toEqual([]);
        await world.calm();
        await give('second');
        await reaches(world, taskId, 'completed');
        expect(world.reports()).toEqual(['answered second']);
        await world.restart();
        expect(await status(world, taskId)).toBe('completed');
      }),
  );

  test('does not report its end before the result is saved, and does not lose the result', { timeout }, () =>
    inTrouble('ends', async (world, taskId) => {
      await world.trouble();
      await openGate(world, 'end');
      await waitInTrouble(world);
      expect(await status(world, taskId)).toBe('working');
      await world.calm();
      await reaches(world, taskId, 'completed');
      await world.restart();
      expect(await world.ask('tasks/get', { taskId })).toMatchObject({
        status: 'completed',
        result: { content: [{ text: expect.stringMatching(/^a result/) }] },
      });
    }),
  );

  test('rejects a cancellation that cannot be saved, and continues until it can be', { timeout }, () =>
    inTrouble('hangs', async (world, taskId) => {
      await until('the handler runs', () => world.reports().includes('hangs'));
      await world.trouble();
      // In a full store, the end of a task makes room for its cancellation.
      if (kind !== 'a full store') {
        await expect(world.ask('tasks/cancel', { taskId })).rejects.toThrow(
          'The cancellation could not be saved, and the task continues. Try again later.',
        );
        await waitInTrouble(world);
        expect(await status(world, taskId)).toBe('working');
        expect(world.reports()).toEqual(['hangs']);
        await world.calm();
      }
      await world.ask('tasks/cancel', { taskId });
      expect(await status(world, taskId)).toBe('cancelled');
      await until("the handler's signal has aborted", () => world.reports().includes('aborted'));
      await world.restart();
      expect(await status(world, taskId)).toBe('cancelled');
      expect(world.reports()).toEqual(['hangs', 'aborted']);
    }),
  );

  test('is not created until the store works again, and its handler does not begin before', {
    timeout,
  }, async () => {
    const world = await create();
    await world.ask('tools/call', { name: 'asks', arguments: {} });
    await world.trouble();
    // A store that cannot even be read may have saved the task.
    await expect(world.ask('tools/call', { name: 'hangs', arguments: {} })).rejects.toThrow(
      kind === 'an unavailable store'
        ? 'It is unknown whether the task was created'
        : 'The task could not be saved. Try again later.',
    );
    await waitInTrouble(world);
    expect(world.reports()).toEqual([]);
    await world.calm();
    expect(await world.ask('tools/call', { name: 'hangs', arguments: {} })).toMatchObject({
      resultType: 'task',
    });
    await until('the handler runs', () => world.reports().includes('hangs'));
    await world.end();
  });
});
