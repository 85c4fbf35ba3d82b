import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect, McpError, type Progress } from 'fullmcp/client';
import { afterAll, expect, test } from 'vitest';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

const fixture = fileURLToPath(new URL('../fixtures/rows-server.mjs', import.meta.url));
const ROWS = 20;
/** The row at which the first server process waits to be killed, however late that is. */
const STUCK_AT = 10;
const root = mkdtempSync(join(tmpdir(), 'fullmcp-absence-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

interface Life {
  readonly url: string;
  readonly kill: () => Promise<unknown>;
}

async function start(folder: string, url?: string): Promise<Life> {
  const life = url === undefined ? ['0', String(STUCK_AT)] : [new URL(url).port];
  const child = spawn(process.execPath, [fixture, folder, ...life], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  void once(child, 'exit').finally(() => children.delete(child));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url: line, kill: () => ended(child, () => child.kill('SIGKILL')) };
}

function rowsIn(folder: string): readonly string[] {
  return readFileSync(join(folder, 'rows'), 'utf8').trim().split('\n');
}

test.each(['callTool', 'startTool'] as const)(
  'a client follows its task while its server is killed with SIGKILL and restarted: %s',
  { timeout: 60_000 },
  async (how) => {
    const folder = mkdtempSync(join(root, `${how}-`));
    const first = await start(folder);
    await using client = await connect(first.url);
    const reports: Progress[] = [];
    const onProgress = (progress: Progress): void => void reports.push(progress);
    let ended = false;
    const result = (
      how === 'callTool'
        ? client.callTool('import_rows', { rows: ROWS }, { onProgress })
        : client.startTool('import_rows', { rows: ROWS }).then((task) => task.result({ onProgress }))
    ).finally(() => {
      ended = true;
    });
    await until(
      'the rows before the last one are imported',
      () => reports.some(({ progress }) => progress >= STUCK_AT - 1),
      20_000,
    );
    await first.kill();
    // Longer than the first, quick attempts to reconnect take.
    const killedAt = performance.now();
    await until('the client has reported a problem', () => client.info().problems.length > 0, 20_000);
    await until('the server was away for a while', () => performance.now() - killedAt > 2500);
    expect(ended, 'the client has not given up').toBe(false);
    const second = await start(folder, first.url);
    expect((await result).data).toEqual({ imported: ROWS });
    const rows = rowsIn(folder);
    expect(new Set(rows).size).toBe(ROWS);
    // The interrupted row may appear twice.
    expect(rows.length).toBeLessThanOrEqual(ROWS + 1);
    expect(reports.map(({ progress }) => progress)).toEqual(
      [...new Set(reports.map(({ progress }) => progress))].sort((a, b) => a - b),
    );
    expect(reports.at(-1)).toMatchObject({ progress: ROWS, total: ROWS });
    await second.kill();
  },
);

test('a client stops waiting for a task after maxTimeoutMs if its server stays away, and can resume it by the id in the error', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(root, 'limit-'));
  const first = await start(folder);
  await using client = await connect(first.url);
  const task = await client.startTool('import_rows', { rows: ROWS });
  await first.kill();
  const error = await task.result({ maxTimeoutMs: 2000 }).catch((thrown) => thrown);
  expect(McpError.is(error) && error.code).toBe('timeout');
  const { taskId } = error.data as { taskId: string };
  const second = await start(folder, first.url);
  expect((await client.task(taskId).result()).data).toEqual({ imported: ROWS });
  await second.kill();
});
