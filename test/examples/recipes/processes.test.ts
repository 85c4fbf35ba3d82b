import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { build, type Program, run } from '../../support/examples/program.js';
import { until } from '../../support/until.js';

// Runs the recipes that take more than one process.

beforeAll(build, 120_000);

/** Starts a recipe that serves, and waits until it does. */
async function start(
  name: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly program: Program; readonly url: string }> {
  const program = run(`recipes/${name}.js`, args, { PORT: '0', ...env });
  onTestFinished(() => program[Symbol.asyncDispose]());
  for (;;) {
    const line = await program.line();
    if (line === undefined) throw new Error(program.errors());
    const url = /Listening on (http\S+)/.exec(line)?.[1];
    if (url !== undefined) return { program, url };
  }
}

it('the recipe for a crash continues its task in the next process, and repeats no row that was done', {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'rows.txt');
  const rows = async () => (await readFile(file, 'utf8').catch(() => '')).trim().split('\n');
  const env = { DATA: join(folder, 'data'), MCP_SECRET: 'x'.repeat(32) };

  const first = await start('resume', [], env);
  const client = await connect(first.url);
  const { id } = await client.startTool('import_rows', { rows: 60, file });
  await until('some rows are imported', async () => (await rows()).length >= 10);
  await first.program[Symbol.asyncDispose](); // kill -9
  await client.close();
  expect((await rows()).length).toBeLessThan(60);

  const second = await start('resume', [], env);
  await using again = await connect(second.url);
  expect((await again.task(id as string).result()).text).toBe('Imported 60 rows');
  const all = await rows();
  expect(new Set(all).size).toBe(60);
  // Only the row whose step was interrupted may be there twice.
  expect(all.length).toBeLessThanOrEqual(61);
});

it('the recipe for a trace has one trace in both processes, and the call of the second is below that of the first', {
  timeout: 60_000,
}, async () => {
  const back = await start('trace');
  const front = await start('trace', [back.url]);
  await using client = await connect(front.url);
  expect((await client.callTool('greet')).text).toBe('Hello from the back');
  const [server] = await spanOf(back.program, 'tools/call greet', 1);
  const spans = await spanOf(front.program, 'tools/call greet', 1);
  expect(server?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(spans[0]).toMatchObject({ traceId: server?.traceId, id: server?.parent });
});

/** The next spans with this name that a program prints. */
async function spanOf(program: Program, name: string, count: number) {
  const found: { traceId?: string | undefined; id?: string | undefined; parent?: string | undefined }[] = [];
  let text = '';
  while (found.length < count) {
    const line = await program.line();
    if (line === undefined) throw new Error(program.errors());
    text = line === '{' ? line : `${text}\n${line}`;
    if (line !== '}' || !text.includes(`name: '${name}'`)) continue;
    found.push({
      traceId: /traceId: '(\w+)'/.exec(text)?.[1],
      id: /\n {2}id: '(\w+)'/.exec(text)?.[1],
      parent: /spanId: '(\w+)'/.exec(text)?.[1],
    });
  }
  return found;
}
