import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../../src/testing/faults/seeded.js';
import { type Line, Processes, type Task, User } from '../../support/code/program-processes.js';
import { until } from '../../support/until.js';

// Programs whose changes a person approves, and whose processes are killed around the question and its answer. PLAN_KILLS is the number of
// kills at random moments, and PLAN_SEED repeats their order.

const KILLS = Number(process.env['PLAN_KILLS'] ?? 4);
const seed = Number(process.env['PLAN_SEED'] ?? Date.now() % 1_000_000);

/** Removes an item, and then all that are left: the plan cannot know which ones these will be, because ahead of it nothing is removed. */
const programOf = (run: string): string => `const run = ${JSON.stringify(run)};
await tools.remove({ run, id: 'a' });
const { ids } = await tools.left({ run });
for (const id of ids) await tools.remove({ run, id });
return ids;`;

/** The calls of the first plan: the item \`a\` is still there. */
const FIRST = ['remove a', 'remove a', 'remove b', 'remove c', 'remove d'];
/** The calls of the second one, which differ from those that were approved. */
const SECOND = ['remove b', 'remove c', 'remove d'];

interface Question {
  readonly message: string;
  readonly key: string;
}

/** The questions that a task asks now. */
function questionsOf(task: Task): readonly Question[] {
  const requests = (task['inputRequests'] ?? {}) as Readonly<Record<string, { params: { message: string } }>>;
  return Object.entries(requests).map(([key, { params }]) => ({ key, message: params.message }));
}

/** The calls that a question shows. */
function shown({ message }: Question): readonly string[] {
  return [...message.matchAll(/^ {4}\d+\. (\w+)\(.*"id": "(\w)"/gm)].map(([, name, id]) => `${name} ${id}`);
}

function removals(lines: readonly Line[], what: Line['what'] = 'did'): readonly string[] {
  return lines
    .filter((line) => line.what === what && line.name === 'remove')
    .map((line) => String(line['id']));
}

/** Each call was made with one key, and so is one call, even if it was repeated after a crash. */
function checkKeys(lines: readonly Line[]): void {
  const calls = lines.filter(({ what, name }) => what === 'call' && name === 'remove');
  for (const id of ['a', 'b', 'c', 'd']) {
    const keys = calls.filter((line) => line['id'] === id).map(({ key }) => key);
    expect(new Set(keys).size, `keys of ${id}: ${keys}`).toBe(1);
  }
}

function checkEnd(task: Task, lines: readonly Line[]): void {
  expect(task['status'], JSON.stringify(task)).toBe('completed');
  expect(task['result']).toMatchObject({ structuredContent: { result: ['b', 'c', 'd'], calls: 5 } });
  expect([...new Set(removals(lines))]).toEqual(['a', 'b', 'c', 'd']);
  checkKeys(lines);
}

describe('a program whose changes a person approves', () => {
  const random = seeded(seed);
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-plans-store-'));
  let processes: Processes;
  let user: User;
  let approves = true;
  beforeAll(() => {
    processes = new Processes({ STORE: folder, APPROVE: 'remove' });
    user = new User(processes, { programOf, random, answerTo: () => ({ approve: approves }) });
  });
  afterAll(async () => {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const killAll = async (): Promise<void> => {
    while (processes.running.length > 0) await processes.remove(0);
  };
  const restart = async (): Promise<void> => {
    await killAll();
    await Promise.all([processes.start(), processes.start()]);
  };
  const isAsking = ({ status }: Task): boolean => status === 'input_required';
  /** Waits for the question of a task. */
  const asked = async (taskId: string): Promise<Question> => {
    let task: Task = {};
    await until('the program asks', async () => {
      task = await user.ask('tasks/get', { taskId });
      expect(task['status'], JSON.stringify(task)).not.toMatch(/completed|failed/);
      return isAsking(task);
    });
    const [question] = questionsOf(task);
    return question as Question;
  };
  const answer = (taskId: string, { key, message }: Question): Promise<void> =>
    user.answer(taskId, { [key]: { params: { message } } });

  test('asks the same again when its process is killed at the question, makes what was approved, and asks about what differs', {
    timeout: 120_000,
  }, async () => {
    await restart();
    const { run, taskId } = await user.start('killed at the question');
    const first = await asked(taskId);
    expect(shown(first)).toEqual(FIRST);
    await restart();
    expect(await asked(taskId)).toEqual(first);
    expect(removals(processes.linesOf(run), 'call')).toEqual([]);

    await answer(taskId, first);
    await until('the program asks about what differs', async () => {
      const task = await user.ask('tasks/get', { taskId });
      return isAsking(task) && questionsOf(task).every(({ key }) => key !== first.key);
    });
    const second = await asked(taskId);
    expect(shown(second)).toEqual(SECOND);
    await restart();
    expect(await asked(taskId)).toEqual(second);
    expect(removals(processes.linesOf(run))).toEqual(['a']);

    await answer(taskId, second);
    checkEnd(await user.follow(taskId), processes.linesOf(run));
  });

  test('makes what was approved when its process is killed right after the answer, and does not ask again', {
    timeout: 120_000,
  }, async () => {
    await restart();
    const { run, taskId } = await user.start('killed at the answer');
    const first = await asked(taskId);
    await answer(taskId, first);
    await restart();
    const keys = new Set<string>();
    const task = await user.follow(taskId, (now) => {
      for (const { key } of questionsOf(now)) keys.add(key);
      return false;
    });
    expect([...keys]).toHaveLength(1);
    expect(keys).not.toContain(first.key);
    checkEnd(task, processes.linesOf(run));
  });

  test('makes the rest of what was approved when its process is killed during the calls', {
    timeout: 120_000,
  }, async () => {
    await restart();
    const { run, taskId } = await user.start('killed during the calls');
    await answer(taskId, await asked(taskId));
    await until('the program asks about what differs', async () => {
      const task = await user.ask('tasks/get', { taskId });
      return isAsking(task) && removals(processes.linesOf(run)).includes('a');
    });
    await answer(taskId, await asked(taskId));
    await until('an approved call has ended', () => removals(processes.linesOf(run)).includes('b'));
    await restart();
    const task = await user.follow(taskId, (now) => {
      expect(questionsOf(now)).toEqual([]);
      return false;
    });
    checkEnd(task, processes.linesOf(run));
  });

  test('makes nothing when its process is killed right after the user has refused', {
    timeout: 120_000,
  }, async () => {
    await restart();
    const { run, taskId } = await user.start('refused');
    const question = await asked(taskId);
    approves = false;
    await answer(taskId, question).finally(() => {
      approves = true;
    });
    await restart();
    const task = await user.follow(taskId);
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(task)).toContain('The user did not approve 5 calls of the program.');
    expect(removals(processes.linesOf(run), 'call')).toEqual([]);
  });

  test('makes nothing when its process is killed at the question and it is cancelled then', {
    timeout: 120_000,
  }, async () => {
    await restart();
    const { run, taskId } = await user.start('cancelled');
    const question = await asked(taskId);
    await restart();
    await user.ask('tasks/cancel', { taskId });
    // Whether the late answer is ignored or rejected makes no difference.
    await answer(taskId, question).catch(() => undefined);
    const other = await user.start('after the cancelled one');
    checkEnd(await user.follow(other.taskId), processes.linesOf(other.run));
    expect(await user.ask('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    expect(removals(processes.linesOf(run), 'call')).toEqual([]);
  });

  test(`ends right when its processes are killed ${KILLS} times at random moments, and makes nothing that was not approved (PLAN_SEED=${seed})`, {
    timeout: 60_000 + 30_000 * KILLS,
  }, async () => {
    await restart();
    let kills = 0;
    for (let at = 0; kills < KILLS; at++) {
      const { run, taskId } = await user.start(`random ${at}`);
      const striking = (async () => {
        await delay(random() * 1500);
        await processes.kill(0);
        kills++;
        await until('both processes run', () => processes.running.length === 2, 60_000);
      })();
      const questions = new Map<string, Question>();
      const task = await user.follow(taskId, (now) => {
        for (const question of questionsOf(now)) {
          expect(questions.get(question.key) ?? question).toEqual(question);
          // Nothing of a plan is made before its question is answered.
          if (!questions.has(question.key))
            expect(removals(processes.linesOf(run), 'call')).not.toEqual(
              expect.arrayContaining(questions.size === 0 ? ['a'] : ['b']),
            );
          questions.set(question.key, question);
        }
        return false;
      });
      await striking;
      expect([...questions.values()].map(shown)).toEqual([FIRST, SECOND]);
      checkEnd(task, processes.linesOf(run));
    }
  });
});
