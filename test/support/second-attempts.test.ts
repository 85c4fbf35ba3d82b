import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs tests of which one passes at once, and three only at the second attempt. */
function run(...args: string[]): { readonly status: number | null; readonly stdout: string } {
  const vitest = path('../../node_modules/vitest/vitest.mjs');
  const config = path('fixtures/flaky.config.ts');
  // A run inside a run must not take itself for a worker of the outer one.
  const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, ...env } = process.env;
  return spawnSync(process.execPath, [vitest, 'run', '--config', config, ...args], { encoding: 'utf8', env });
}

describe('the record of second attempts', () => {
  it('fails a run that names a test for the third time, and prints the lines of the others', () => {
    const { status, stdout } = run();
    expect(status).toBe(1);
    const [ofOthers = '', ofThird = ''] = stdout.split('records 2 such runs already');
    expect(ofOthers).toContain('  "test/support/fixtures/flaky.ts > is new": 1\n    expected 1 to be 2');
    expect(ofOthers).toContain('  "test/support/fixtures/flaky.ts > is recorded once": 2\n');
    expect(ofThird).toContain('  test/support/fixtures/flaky.ts > is recorded twice\n    expected 1 to be 2');
    expect(stdout).not.toContain('passes');
  });

  it('passes a run that names no test for the third time', () => {
    expect(run('-t', 'is new|once')).toMatchObject({ status: 0 });
  });
});
