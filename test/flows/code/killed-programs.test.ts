import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../../src/testing/faults/seeded.js';
import { type Line, Processes, type Task, User } from '../../support/code/program-processes.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/engines/redis.js';
import { until } from '../../support/until.js';

// Programs of 40 calls, three questions and a task, whose processes are killed at random moments. PROGRAM_KILLS is the number of kills on
// each engine, and PROGRAM_SEED repeats their order.

const KILLS = Number(process.env['PROGRAM_KILLS'] ?? 4);
const seed = Number(process.env['PROGRAM_SEED'] ?? Date.now() % 1_000_000);

/** 36 calls, three questions and a task. */
const programOf = (run: string): string => `const run = ${JSON.stringify(run)};
const square = async (n) => (await tools.square({ run, n })).square;
const squares = await Promise.all(Array.from({ length: 16 }, (_, n) => square(n)));
const words = [(await tools.confirm({ run, what: 'first' })).word];
for (let n = 16; n < 24; n++) squares.push(await square(n));
const { steps } = await tools.archive({ run });
words.push((await tools.confirm({ run, what: 'second' })).word);
squares.push(...await Promise.all(Array.from({ length: 8 }, (_, n) => square(24 + n))));
const paid = [];
for (let n = 0; n < 4; n++) {
  try {
    paid.push((await tools.pay({ run, n })).paid);
  } catch (error) {
    // The process has died while the call ran: nobody knows whether it took effect.
    paid.push(error.message.includes('unknown') ? 'unknown' : error.message);
  }
}
words.push((await tools.confirm({ run, what: 'third' })).word);
return { squares, words, steps, paid, clock: Date.now() > 0, random: Math.random() < 1 };`;

/** Checks a program that has ended. Returns the number of calls that were repeated. */
function check(task: Task, lines: readonly Line[]): number {
  expect(task['status'], JSON.stringify(task)).toBe('completed');
  const { structuredContent } = task['result'] as { structuredContent: { calls: number; result: Result } };
  const { result, calls } = structuredContent;
  expect(calls).toBe(40);
  expect(result.squares).toEqual(Array.from({ length: 32 }, (_, n) => n * n));
  expect(result.words).toEqual(['first', 'second', 'third'].map((what) => `yes to ${what}`));
  expect(result.steps).toBe(3);
  const did = lines.filter(({ what }) => what === 'did');
  for (const [n, paid] of result.paid.entries()) {
    const times = did.filter((line) => line.name === 'pay' && line.n === n).length;
    if (paid === 'unknown') expect(times).toBeLessThanOrEqual(1);
    else expect([paid, times]).toEqual([n, 1]);
  }
  for (let n = 0; n < 32; n++) expect(did.some((line) => line.name === 'square' && line.n === n)).toBe(true);
  for (const step of [1, 2, 3]) {
    const keys = did.filter((line) => line.name === 'archive' && line['step'] === step).map(({ key }) => key);
    expect(new Set(keys).size, `keys of step ${step} of the inner task`).toBe(1);
  }
  return repeated(lines);
}

interface Result {
  readonly squares: readonly number[];
  readonly words: readonly string[];
  readonly steps: number;
  readonly paid: readonly (number | string)[];
}

/** The calls that were made again, all of which must have had their key. */
function repeated(lines: readonly Line[]): number {
  const keys = new Map<string, Set<unknown>>();
  // A question is answered by the same call with another key: that of the step with the answer.
  const calls = lines.filter(({ what, name }) => what === 'call' && name !== 'confirm');
  for (const { name, n, key } of calls) {
    const of = `${name} ${n}`;
    keys.set(of, (keys.get(of) ?? new Set()).add(key));
  }
  for (const [of, all] of keys) expect([...all], `keys of ${of}`).toHaveLength(1);
  expect(new Set([...keys.values()].map(([key]) => key)).size).toBe(keys.size);
  return calls.length - keys.size;
}

/** Kills random processes at random moments, but never before the programs have made progress since the last time. */
async function strike(processes: Processes, random: () => number, isOver: () => boolean): Promise<number> {
  let kills = 0;
  while (kills < KILLS && !isOver()) {
    const before = processes.lines().length;
    await until(
      'a program makes progress',
      () => isOver() || (processes.running.length === 2 && processes.lines().length > before + 2),
      120_000,
    );
    await delay(random() * 250);
    await processes.kill(Math.floor(random() * 2));
    kills++;
  }
  return kills;
}

function programs(env: () => Readonly<Record<string, string>>): void {
  let processes: Processes;
  let user: User;
  const random = seeded(seed);
  beforeAll(async () => {
    processes = new Processes(env());
    user = new User(processes, {
      ...{ programOf, random },
      answerTo: (message) => ({ word: `yes to ${message}` }),
    });
    await Promise.all([processes.start(), processes.start()]);
  }, 60_000);
  afterAll(() => processes.close());

  test(`ends right when its processes are killed ${KILLS} times, makes each call once or with its key, and does not continue after a cancel (PROGRAM_SEED=${seed})`, {
    timeout: 60_000 + 30_000 * KILLS,
  }, async () => {
    const figures = { programs: 0, cancelled: 0, repeated: 0 };
    let isOver = false;
    const cancelled: { run: string; taskId: string; lines: number }[] = [];
    let areStruck = false;
    const striking = strike(processes, random, () => isOver).finally(() => {
      areStruck = true;
    });
    try {
      for (let at = 0; !areStruck || at < 3; at++) {
        const { run, taskId } = await user.start(`program ${at}`);
        if (at % 3 !== 2) {
          figures.repeated += check(await user.follow(taskId), processes.linesOf(run));
          figures.programs++;
          continue;
        }
        const lines = 1 + Math.floor(random() * 60);
        const task = await user.follow(taskId, () => processes.linesOf(run).length >= lines);
        if (task['status'] === 'completed') continue;
        await user.ask('tasks/cancel', { taskId });
        cancelled.push({ run, taskId, lines: processes.linesOf(run).length });
        figures.cancelled++;
      }
    } finally {
      isOver = true;
    }
    const kills = await striking;
    // While a program runs from its start to its end, the calls end that ran when theirs was cancelled. While the next one does, whoever
    // wanted to continue a cancelled program has the time.
    const complete = async (name: string): Promise<void> => {
      const { run, taskId } = await user.start(name);
      check(await user.follow(taskId), processes.linesOf(run));
    };
    await complete('next');
    const counts = new Map(cancelled.map(({ run }) => [run, processes.linesOf(run).length]));
    await complete('last');
    for (const { run, taskId, lines } of cancelled) {
      expect((await user.ask('tasks/get', { taskId }))['status']).toBe('cancelled');
      const after = processes.linesOf(run).slice(lines);
      // The calls that were running, of which at most 16 are at the same time, end.
      expect(after.filter(({ what }) => what === 'call').length, JSON.stringify(after)).toBeLessThanOrEqual(
        16,
      );
      expect(processes.linesOf(run)).toHaveLength(counts.get(run) as number);
      repeated(processes.linesOf(run));
    }
    console.log(`${kills} kills: ${JSON.stringify(figures)}`);
    expect(kills).toBe(KILLS);
    expect(figures.programs).toBeGreaterThan(0);
    expect(figures.cancelled).toBeGreaterThan(0);
  });

  test('fails before anything is called if the engine has changed while it waited', {
    timeout: 120_000,
  }, async () => {
    const { run, taskId } = await user.start('changed');
    await until('the program asks', async () => {
      const { status } = await user.ask('tasks/get', { taskId });
      return status === 'input_required';
    });
    while (processes.running.length > 0) await processes.remove(0);
    const before = processes.linesOf(run);
    await processes.start({ MEMORY: '33554432' });
    const task = await user.follow(taskId);
    expect(task).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(task)).toContain('This program cannot continue: it was started in the engine');
    expect(processes.linesOf(run)).toEqual(before);
  });
}

describe('a program on LMDB', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-programs-store-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  programs(() => ({ STORE: folder }));
});

describeWithPostgres('a program on Postgres', (server) =>
  programs(() => ({ MCP_CLUSTER_URL: server().url })),
);

describeWithRedis('a program on Redis', () => {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await startRedis();
  }, 60_000);
  afterAll(() => server?.stop());
  programs(() => ({ MCP_CLUSTER_URL: (server as RedisServer).url }));
});
