import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('run.js', import.meta.url));
const LONG_MS = 600_000;

/** Runs the simulation. Returns its lines. */
function run(...args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => {
        resolve(`${stdout}${stderr}`.trim().split('\n'));
      },
    );
  });
}

test(
  'no promise is broken in hundreds of simulated clusters',
  async () => {
    const lines = await run('--seeds', '400', '--from', '1');
    expect(lines.filter((line) => line.startsWith('seed'))).toEqual([]);
    expect(lines.at(-1)).toBe('simulation: seeds 400 failures 0');
  },
  LONG_MS,
);

test(
  'a seed gives the same trace each time, in whatever process and after whatever other seeds',
  async () => {
    const [once, again, alone] = await Promise.all([
      run('--seeds', '50', '--from', '701', '--digests', '--jobs', '1'),
      run('--seeds', '70', '--from', '681', '--digests', '--jobs', '2'),
      run('--seed', '733'),
    ]);
    const digests = once.filter((line) => line.startsWith('digest '));
    expect(digests).toHaveLength(50);
    expect(new Set(digests.map((line) => line.split(' ').at(-1))).size).toBe(50);
    expect(again).toEqual(expect.arrayContaining([...digests]));
    const [digest] = alone.filter((line) => line.startsWith('digest '));
    expect(digests).toContain(digest?.replace('digest', 'digest 733'));
  },
  LONG_MS,
);

test(
  'a planted bug breaks each promise, and the simulation notices',
  async () => {
    const lines = await run('--plants', '--seeds', '1000');
    expect(lines.filter((line) => line.startsWith('plant') && !/: seed \d+: /.test(line))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^simulation: plants \d+ missed 0$/);
  },
  LONG_MS,
);
