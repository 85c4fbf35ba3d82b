import { fileURLToPath } from 'node:url';
import { createServer } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { callText } from '../../../../support/http/modern.js';
import { type HttpProcess, isAlive, run, startHttp } from '../../../../support/processes.js';
import { soon, until } from '../../../../support/until.js';

const program = fileURLToPath(new URL('../../../../fixtures/workers.js', import.meta.url));

describe('a server with three workers', () => {
  let serving: HttpProcess;
  beforeAll(async () => {
    serving = await startHttp(program);
  });
  afterAll(async () => {
    await serving.stop();
  });

  // A new client has a new connection, which the system may give to any worker.
  async function call(name: string, key?: string): Promise<string> {
    await using client = await connect(serving.url);
    const result = await client.callTool(name, {}, key === undefined ? {} : { idempotencyKey: key });
    return result.text;
  }

  async function pids(count: number): Promise<Set<number>> {
    const found = new Set<number>();
    await until(
      `${count} workers have served`,
      async () => found.add(Number(await call('pid'))).size >= count,
    );
    return found;
  }

  test('serves with all of them', async () => {
    expect((await pids(3)).size).toBe(3);
  });

  test('shares idempotency keys between them', async () => {
    const outcomes = new Set<string>();
    for (let n = 0; n < 12; n++) outcomes.add(await call('once', 'the same key'));
    expect(outcomes.size).toBe(1);
  });

  test('finds the tasks of each of them at all', async () => {
    for (let n = 0; n < 6; n++) {
      await using first = await connect(serving.url);
      const { id = '' } = await first.startTool('job');
      await using second = await connect(serving.url);
      expect(Number((await second.task(id).result()).text)).toBeGreaterThan(0);
    }
  });

  test('carries changes from each of them to the subscribers of all', async () => {
    await using client = await connect(serving.url);
    await using changes = await client.subscribe('test://news');
    const updates = changes[Symbol.asyncIterator]();
    for (let n = 0; n < 8; n++) {
      await call('announce');
      expect((await updates.next()).done).toBe(false);
    }
  });

  test('replaces a worker that ends', async () => {
    const before = await pids(3);
    await expect(call('crash')).rejects.toThrow();
    await until(
      'another worker serves',
      async () => !before.has(Number(await call('pid').catch(() => [...before][0]))),
    );
    await pids(3);
  });
});

test('a connection that a worker was given and never took ends with the worker', async () => {
  const serving = await startHttp(program);
  onTestFinished(async () => void (await serving.stop()));
  const ping = (): Promise<string> => callText(serving.url, 'pid');
  const stopped = Number(await ping());
  process.kill(stopped, 'SIGSTOP');
  // The workers take connections in turns, so the one that does not run is given at least one of them.
  const calls = Array.from({ length: 6 }, ping);
  const outcomes = Promise.allSettled(calls);
  await Promise.all([Promise.any(calls), Promise.any(calls.slice(1)), Promise.any(calls.slice(2))]);
  process.kill(stopped, 'SIGKILL');
  const failed = (await soon('the end of all calls', outcomes)).filter(({ status }) => status === 'rejected');
  expect(failed.length).toBeGreaterThan(0);
  await until('the other workers serve', () => ping().then(() => true));
});

test('a server with workers ends with all of them at SIGTERM', async () => {
  const serving = await startHttp(program);
  const found = new Set<number>();
  await until('all workers have served', async () => {
    await using client = await connect(serving.url);
    return found.add(Number((await client.callTool('pid', {})).text)).size === 3;
  });
  expect(await serving.stop()).toBe(0);
  for (const pid of found) await until('the worker has ended', () => !isAlive(pid));
});

test('a server whose workers cannot start fails with a clear error', async () => {
  const env = { ...process.env, PORT: '0', TEST_FAILS: '1' };
  const { code, stderr } = await run(process.execPath, [program], env);
  expect(code).not.toBe(0);
  expect(stderr).toContain('5 workers in a row ended within 10 s of their start, the last one with code 7.');
});

test.each([0, -1, 1.5, 'many', Number.NaN])('workers: %s is rejected', async (workers) => {
  const server = createServer({ name: 'test', version: '1.0.0' });
  await expect(serve(server, { workers: workers as number })).rejects.toThrow(
    'serve: "workers" must be "auto" or an integer, 1 or more, not ',
  );
});
