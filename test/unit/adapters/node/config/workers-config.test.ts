import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { callText } from '../../../../support/http/modern.js';
import { startHttp } from '../../../../support/processes.js';
import { until } from '../../../../support/until.js';

const WORKERS = 3;
const program = fileURLToPath(new URL('../../../../fixtures/workers-config.js', import.meta.url));

test('a worker that is started later has the options that the primary process has read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-workers-'));
  const config = join(folder, 'fullmcp.json');
  writeFileSync(config, JSON.stringify({ path: '/first', workers: WORKERS }));
  const serving = await startHttp(program, config);
  onTestFinished(async () => {
    await serving.stop();
    rmSync(folder, { recursive: true });
  });
  expect(serving.url).toContain('/first');
  // One connection for each call, which the workers take in turns.
  const pid = (): Promise<string> => callText(serving.url, 'pid');
  const before = new Set<string>();
  await until('all workers have served', async () => before.add(await pid()).size === WORKERS, 60_000);
  writeFileSync(config, JSON.stringify({ path: '/second', prot: 'wrong' }));
  const [first] = before;
  process.kill(Number(first), 'SIGKILL');
  const isOther = async (): Promise<boolean> => !before.has(await pid().catch(() => String(first)));
  await until('another worker serves the same path', isOther, 60_000);
}, 150_000);
