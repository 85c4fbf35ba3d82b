import { expect, test } from 'vitest';
import { type Failure, runSeed } from './main.js';

/** As many as fit into a few seconds; `npm run stacks` runs many more. */
const STACKS = 50;

test('random stacks of parts break none of their promises', { timeout: 300_000 }, async () => {
  const failures: Failure[] = [];
  for (let seed = 1; seed <= STACKS; seed++) {
    const failure = await runSeed(seed);
    if (failure !== undefined) failures.push(failure);
  }
  expect(failures, 'node test/stacks/run.js --seed N prints the smallest stack that fails').toEqual([]);
});
