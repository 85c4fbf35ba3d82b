import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { modern } from '../../../support/http/modern.js';
import { ended } from '../../../support/processes.js';
import { until } from '../../../support/until.js';

// Processes that are killed or paused in the middle of a transaction of a step.

const LEASE_MS = 1000;
const fixture = fileURLToPath(new URL('./fixtures/step-server.mjs', import.meta.url));
const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
  readonly lines: string[];
}

async function ask(
  { url }: Replica,
  method: string,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const headers = { 'mcp-name': (params['name'] ?? params['taskId']) as string };
  const { text } = await modern(url, method, params, { meta, headers });
  const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

describeWithPostgres('The transaction of a step', (server) => {
  const replicas = new Set<Replica>();
  let schema: string;

  beforeEach(async () => {
    schema = freshSchema();
    // Nothing here keeps a row from being written twice.
    await server().query('DROP TABLE IF EXISTS effect; CREATE TABLE effect (step text, pid integer)');
  });
  afterEach(() => {
    for (const { child } of replicas) child.kill('SIGKILL');
    replicas.clear();
  });

  async function start(holds = ''): Promise<Replica> {
    const child = spawn(process.execPath, [fixture, server().url, schema, String(LEASE_MS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, HOLDS: holds },
    });
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    output.on('line', (line) => lines.push(line));
    // A process may take up a task, whose steps write lines, before it prints its address.
    await until('the process has printed its address', () => lines.some((line) => line.startsWith('http')));
    const url = lines.find((line) => line.startsWith('http')) as string;
    const replica = { child, url, lines };
    replicas.add(replica);
    return replica;
  }

  async function completed(replica: Replica, taskId: unknown): Promise<void> {
    await until(
      'the task is completed',
      async () => {
        const { status } = await ask(replica, 'tasks/get', { taskId });
        expect(['working', 'completed']).toContain(status);
        return status === 'completed';
      },
      60_000,
    );
  }

  const effects = () =>
    server().query<{ step: string; n: string; pids: number[] }>(
      'SELECT step, count(*) AS n, array_agg(pid) AS pids FROM effect GROUP BY step',
    );

  test('is rolled back if its process is killed before the commit, and another process runs the step', async () => {
    const first = await start('two');
    const { taskId } = await ask(first, 'tools/call', { name: 'hold', arguments: {} });
    await until('the second step has written', () => first.lines.includes('wrote two'));
    const second = await start();
    await ended(first.child, () => first.child.kill('SIGKILL'));
    await completed(second, taskId);
    const rows = await effects();
    expect(rows.map(({ n }) => n)).toEqual(['1', '1', '1']);
    expect(rows.find(({ step }) => step.endsWith(':one'))?.pids).toEqual([first.child.pid]);
    expect(rows.find(({ step }) => step.endsWith(':two'))?.pids).toEqual([second.child.pid]);
  }, 90_000);

  test('is rolled back if its process is paused for longer than its lease, even if it is resumed', async () => {
    const first = await start('two');
    const { taskId } = await ask(first, 'tools/call', { name: 'hold', arguments: {} });
    await until('the second step has written', () => first.lines.includes('wrote two'));
    const second = await start();
    // The line is read when the process is resumed, so that its step goes on and wants to be committed.
    first.child.kill('SIGSTOP');
    first.child.stdin?.write('go\n');
    await completed(second, taskId);
    first.child.kill('SIGCONT');
    await ask(first, 'tasks/get', { taskId });
    const rows = await effects();
    expect(rows.map(({ n }) => n)).toEqual(['1', '1', '1']);
    expect(rows.find(({ step }) => step.endsWith(':two'))?.pids).toEqual([second.child.pid]);
    await ended(first.child, () => first.child.kill('SIGTERM'));
    expect((await effects()).map(({ n }) => n)).toEqual(['1', '1', '1']);
  }, 90_000);

  test('takes effect once, whenever its process is killed, paused or stopped', async () => {
    const TASKS = 8;
    const running = [await start(), await start()];
    const ids: unknown[] = [];
    const results = new Set<unknown>();
    for (const disruption of ['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGKILL'] as const) {
      const other = running[1] as Replica;
      for (let n = 0; n < TASKS; n++)
        ids.push(
          (await ask(running[n % 2] as Replica, 'tools/call', { name: 'work', arguments: {} }))['taskId'],
        );
      await setTimeout(Math.random() * 150);
      const victim = running[0] as Replica;
      if (disruption === 'SIGSTOP') {
        victim.child.kill('SIGSTOP');
        const began = performance.now();
        await until('its leases have ended', () => performance.now() - began > 2 * LEASE_MS);
        victim.child.kill('SIGCONT');
        running.reverse();
      } else {
        await ended(victim.child, () => victim.child.kill(disruption));
        running.splice(0, 2, other, await start());
      }
    }
    for (const taskId of ids) {
      await completed(running[0] as Replica, taskId);
      results.add(taskId);
    }
    const rows = await effects();
    expect(rows).toHaveLength(3 * ids.length);
    expect(rows.filter(({ n }) => n !== '1')).toEqual([]);
    const begun = [...replicas].flatMap(({ lines }) => lines.filter((line) => line.startsWith('wrote')));
    console.log(
      `${ids.length} tasks, ${rows.length} effects, ${begun.length - rows.length} runs rolled back`,
    );
  }, 180_000);
});
