import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const named = (test: string): string => `test/support/fixtures/flaky.ts > ${test}`;

let folder: string;
let list: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fullmcp-second-attempts-'));
  list = join(folder, 'list.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const recorded = (): unknown => JSON.parse(readFileSync(list, 'utf8'));

/** Runs tests of which one passes at once, and three only at the second attempt. */
function run(...args: string[]): { readonly status: number | null; readonly stdout: string } {
  const vitest = path('../../node_modules/vitest/vitest.mjs');
  const config = path('fixtures/flaky.config.ts');
  // A run inside a run must not take itself for a worker of the outer one.
  const { VITEST: _, VITEST_WORKER_ID: __, VITEST_POOL_ID: ___, ...env } = process.env;
  return spawnSync(process.execPath, [vitest, 'run', '--config', config, ...args], {
    encoding: 'utf8',
    env: { ...env, LIST: list },
  });
}

describe('the record of second attempts', () => {
  it('fails a run that names a test for the third time, and prints the lines of the others', () => {
    writeFileSync(list, JSON.stringify({ [named('is recorded once')]: 1, [named('is recorded twice')]: 2 }));
    const { status, stdout } = run();
    expect(status).toBe(1);
    const [ofOthers = '', ofThird = ''] = stdout.split('records 2 such runs already');
    expect(ofOthers).toContain('  "test/support/fixtures/flaky.ts > is new": 1\n    expected 1 to be 2');
    expect(ofOthers).toContain('  "test/support/fixtures/flaky.ts > is recorded once": 2\n');
    expect(ofThird).toContain('  test/support/fixtures/flaky.ts > is recorded twice\n    expected 1 to be 2');
    expect(stdout).not.toContain('passes');
    expect(recorded()).toEqual({
      [named('is new')]: 1,
      [named('is recorded once')]: 2,
      [named('is recorded twice')]: 2,
    });
  });

  it('passes a run that names no test for the third time', () => {
    writeFileSync(list, JSON.stringify({ [named('is recorded once')]: 1 }));
    expect(run('-t', 'is new|once')).toMatchObject({ status: 0 });
  });

  it('counts the runs that follow each other in one checkout, until the third one fails', () => {
    const runs = [run('-t', 'is new'), run('-t', 'is new'), run('-t', 'is new')];
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 1]);
    expect(recorded()).toEqual({ [named('is new')]: 2 });
  });

  it('is printed if it cannot be written, and does not fail the run', () => {
    list = join(folder, 'missing', 'list.json');
    const { status, stdout } = run('-t', 'is new');
    expect(status).toBe(0);
    expect(stdout).toContain(
      'set these lines in test/second-attempts.json, which could not be written (ENOENT)',
    );
    expect(stdout).toContain('  "test/support/fixtures/flaky.ts > is new": 1\n');
  });

  it('is left alone by a run in which every test passed at once', () => {
    writeFileSync(list, '{}');
    expect(run('-t', 'passes')).toMatchObject({ status: 0 });
    expect(readFileSync(list, 'utf8')).toBe('{}');
  });
});
