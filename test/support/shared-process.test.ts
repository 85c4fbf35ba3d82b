import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

it('Two test files in one process see nothing that the other one has replaced.', () => {
  const vitest = path('../../node_modules/vitest/vitest.mjs');
  // A run inside a run must not take itself for a worker of the outer one.
  const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, ...env } = process.env;
  const words = [vitest, 'run', '--config', path('fixtures/shared.config.ts')];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
  expect(status, stdout).toBe(0);
  expect(stdout).toMatch(/Tests .*2 passed/);
});
