import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from 'fullmcp/client';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { describeWithRedis, startRedis } from '../support/engines/redis.js';
import { build, type Program, run } from '../support/examples/program.js';
import { isAlive } from '../support/processes.js';
import { until } from '../support/until.js';

beforeAll(build, 120_000);

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Starts the example, and waits until it serves. */
async function start(env: NodeJS.ProcessEnv): Promise<{ readonly program: Program; readonly url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-example-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const program = run('cluster/main.js', [], {
    ...{ PORT: '0', CLUSTER_FOLDER: folder, MCP_CLUSTER_URL: '', MCP_SECRET: 'x'.repeat(32) },
    ...env,
  });
  cleanUps.push(() => program[Symbol.asyncDispose]());
  for (;;) {
    const line = await program.line();
    if (line === undefined) throw new Error(program.errors());
    const url = /serve (http\S+)/.exec(line)?.[1];
    if (url !== undefined) return { program, url };
  }
}

/** Everything that the example promises. */
async function expectTakeOver({ program, url }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const client = await connect(url, {
    elicit: () => ({ action: 'accept', content: { kind: 'rye' } }),
    revision: '2025-11-25',
  });
  cleanUps.push(() => client.close());
  const pids = new Set<number>();
  await until('two processes have answered', async () => {
    // Workers share connections, not requests.
    pids.add(await whoAnswers(await connect(url)));
    return pids.size >= 2;
  });
  expect((await client.callTool('order')).text).toContain('One loaf of rye bread');

  const bakers = await bake(await connectModern(url), (pid) => {
    pids.add(pid);
    process.kill(pid, 'SIGKILL');
  });
  expect(bakers).toHaveLength(6);
  expect(new Set(bakers).size).toBe(2);

  const known = [...pids, program.child.pid as number];
  program.child.kill('SIGINT');
  expect(await program.end()).toBe(0);
  await until('all processes have ended', () => !known.some(isAlive));
}

async function connectModern(url: string): Promise<Client> {
  const client = await connect(url);
  cleanUps.push(() => client.close());
  return client;
}

async function whoAnswers(client: Client): Promise<number> {
  try {
    return Number((await client.callTool('where')).text.replace('process ', ''));
  } finally {
    await client.close();
  }
}

/** Bakes six loaves. Calls `onFirst` with the process that has baked the first. */
async function bake(client: Client, onFirst: (pid: number) => void): Promise<readonly number[]> {
  const task = await client.startTool('bake', { loaves: 6, seconds: 0.3 });
  let isFirst = true;
  const { data } = await task.result({
    onProgress({ message }) {
      if (!isFirst) return;
      isFirst = false;
      onFirst(Number(/process (\d+)/.exec(message ?? '')?.[1]));
    },
  });
  return (data as { readonly bakers: readonly number[] }).bakers;
}

test('the cluster example runs without an engine, and another worker continues the task of one that is killed', {
  timeout: 120_000,
}, async () => {
  await expectTakeOver(await start({}));
});

describeWithRedis('the cluster example', () => {
  test('runs on an engine behind its balancer, and another replica continues the task of one that is killed', {
    timeout: 120_000,
  }, async () => {
    const redis = await startRedis();
    cleanUps.push(() => redis.stop());
    await expectTakeOver(await start({ MCP_CLUSTER_URL: redis.url }));
  });

  test('ends with the message of a replica that cannot start', { timeout: 60_000 }, async () => {
    await using program = run('cluster/main.js', [], { PORT: '0', MCP_CLUSTER_URL: 'mysql://127.0.0.1/db' });
    while ((await program.line()) !== undefined);
    expect(await program.end()).toBe(1);
    expect(program.errors()).toContain('MCP_CLUSTER_URL');
  });
});
