import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, startRedis } from '../../support/engines/redis.js';
import { type CrashPlan, crashQueues, crashWorld, subscribeAll } from '../../support/events/crash-process.js';
import { secretOf } from '../../support/events/receiver.js';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const PUBLISHERS = ['p1', 'p2'];
/** The events of each publisher. */
const TOTAL = Number(process.env['CRASH_EVENTS'] ?? 500);
/** The number of processes that are killed, and the mean time between two of them. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 40);
const PAUSE_MS = 250;
let folder = '';
let script = '';

beforeAll(async () => {
  // Beside node_modules, where the clients of the engines are found.
  mkdirSync(join(root, 'build'), { recursive: true });
  folder = mkdtempSync(join(root, 'build/crash-'));
  script = join(folder, 'process.mjs');
  await build({
    input: join(root, 'test/support/events/crash-process.ts'),
    external: [/^node:/, 'lmdb', 'pg', '@redis/client', 'ioredis'],
    output: { file: script, format: 'esm', codeSplitting: false },
    logLevel: 'silent',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Processes that are started again when they were killed. */
class Killable {
  readonly kills: Record<string, number> = {};
  readonly done = new Set<string>();
  readonly #running = new Map<string, ChildProcess>();
  readonly #planOf: (name: string) => CrashPlan;
  #isClosed = false;

  constructor(planOf: (name: string) => CrashPlan) {
    this.#planOf = planOf;
  }

  start(name: string): void {
    const plan = this.#planOf(name);
    const child = spawn(process.execPath, [script], {
      env: { ...process.env, CRASH_PLAN: JSON.stringify(plan) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#running.set(name, child);
    child.on('message', () => this.done.add(name));
    child.on('exit', () => {
      if (!this.#isClosed && !this.done.has(name)) this.start(name);
    });
  }

  async kill(name: string): Promise<void> {
    const child = this.#running.get(name) as ChildProcess;
    if (child.exitCode !== null || this.done.has(name)) return;
    this.kills[name.slice(0, 1)] = (this.kills[name.slice(0, 1)] ?? 0) + 1;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.values()].map((child) => ended(child, () => child.kill('SIGKILL'))));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Kills publishers, workers and the receiver at random, and compares what has arrived with what was emitted. */
async function survive(engine: CrashPlan['engine'], address: string): Promise<void> {
  const port = await freePort();
  const [ledger, published] = [join(folder, `${engine}-ledger`), join(folder, `${engine}-published`)];
  const base = { engine, address, port, ledger, published, total: TOTAL, secret: secretOf(9) };
  const roles = { p: 'publisher', w: 'worker', r: 'receiver' } as const;
  const processes = new Killable((name) => ({
    ...base,
    role: roles[name.slice(0, 1) as keyof typeof roles],
    publisher: name,
  }));
  const names = [...PUBLISHERS, 'w1', 'w2', 'r1'];
  processes.start('r1');
  const world = await crashWorld(base);
  try {
    await until('the subscriptions are made', () =>
      subscribeAll(world, base).then(
        () => true,
        () => false,
      ),
    );
    await world.close(0);
    for (const name of names.slice(0, -1)) processes.start(name);
    const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    for (let kill = 0; kill < KILLS && processes.done.size < PUBLISHERS.length; kill++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())));
      await processes.kill(names[Math.floor(Math.random() * names.length)] as string);
    }
    await until('everything was emitted', () => processes.done.size === PUBLISHERS.length, 300_000);
    const expected = Object.entries(crashQueues).flatMap(([path, queue]) =>
      PUBLISHERS.flatMap((publisher) =>
        Array.from({ length: TOTAL }, (_, n) => ({ n, publisher }))
          .filter(({ n }) => queue === undefined || (n % 2 === 0) === (queue === 'even'))
          .map(({ n }) => `${path}\t${publisher}-${n}\t${publisher}-${n}\t${publisher} ${n}\ttrue`),
      ),
    );
    const missing = () => {
      const seen = new Set(lines(ledger));
      return expected.filter((line) => !seen.has(line));
    };
    await until('every event has arrived', () => missing().length === 0, 120_000).catch(() => undefined);
    expect(missing()).toEqual([]);
    // Nothing else has arrived: no event under another id, no event of another subscription, no gap, and no end.
    expect(lines(ledger).filter((line) => !expected.includes(line))).toEqual([]);
    const repeated = lines(ledger).length - expected.length;
    console.log(
      `${engine}: ${PUBLISHERS.length * TOTAL} events to ${Object.keys(crashQueues).length} subscriptions, ${expected.length} deliveries and ${repeated} repeated ones, killed ${JSON.stringify(processes.kills)}`,
    );
    for (const role of Object.keys(roles)) expect(processes.kills[role], role).toBeGreaterThan(0);
  } finally {
    await world.store.close();
    await processes.close();
  }
}

const TIMEOUT = { timeout: 600_000 };

test('no event is lost, and none has two ids, when processes are killed on LMDB', TIMEOUT, async () => {
  const path = mkdtempSync(join(tmpdir(), 'fullmcp-webhooks-'));
  await survive('lmdb', path);
  rmSync(path, { recursive: true, force: true });
});

describeWithPostgres('webhooks on Postgres', (server) => {
  test('no event is lost, and none has two ids, when processes are killed', TIMEOUT, () =>
    survive('postgres', server().url),
  );
});

describeWithRedis('webhooks on Redis', () => {
  test('no event is lost, and none has two ids, when processes are killed', TIMEOUT, async () => {
    const server = await startRedis();
    await survive('redis', server.url);
    await server.stop();
  });
});
