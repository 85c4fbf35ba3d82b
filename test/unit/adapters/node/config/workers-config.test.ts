import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'fullmcp/client';
import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../../../../support/processes.js';
import { until } from '../../../../support/until.js';

const program = fileURLToPath(new URL('../../../../fixtures/workers-config.js', import.meta.url));

test('a worker that is started later has the options that the primary process has read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-workers-'));
  const config = join(folder, 'fullmcp.json');
  writeFileSync(config, JSON.stringify({ path: '/first', workers: 3 }));
  const serving = await startHttp(program, config);
  onTestFinished(async () => {
    await serving.stop();
    rmSync(folder, { recursive: true });
  });
  expect(serving.url).toContain('/first');
  const pid = async (): Promise<string> => {
    await using client = await connect(serving.url, { reconnect: false });
    return (await client.callTool('pid', {})).text;
  };
  const before = new Set<string>();
  await until('all workers have served', async () => before.add(await pid()).size === 3, 30_000);
  writeFileSync(config, JSON.stringify({ path: '/second', prot: 'wrong' }));
  const [first] = [...before];
  process.kill(Number(first), 'SIGKILL');
  await until(
    'another worker serves the same path',
    async () => !before.has(await pid().catch(() => String(first))),
    30_000,
  );
}, 90_000);
