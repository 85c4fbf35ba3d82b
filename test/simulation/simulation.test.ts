import { expect, test } from 'vitest';
import { LONG_MS, run } from './run-in-test.js';

test(
  'no promise is broken in a hundred simulated clusters',
  async () => {
    const lines = await run('--seeds', '100', '--from', '1');
    expect(lines.filter((line) => line.startsWith('seed'))).toEqual([]);
    expect(lines.at(-1)).toBe('simulation: seeds 100 failures 0');
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
