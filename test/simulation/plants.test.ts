import { expect, test } from 'vitest';
import { LONG_MS, run } from './run-in-test.js';

test(
  'a planted bug breaks each promise, and the simulation notices',
  async () => {
    const lines = await run('--plants', '--seeds', '1000');
    expect(lines.filter((line) => line.startsWith('plant') && !/: seed \d+: /.test(line))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^simulation: plants \d+ missed 0$/);
  },
  LONG_MS,
);
