import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, most of it because they wait for processes. Where a run has not been timed before, the largest files go first;
 * one of these would be the last, and the other workers would have nothing to do.
 */
const LONGEST = [
  'test/flows/fallbacks/hosts.test.ts',
  'test/flows/code/hostile-programs.test.ts',
  'test/flows/events/both-ends.test.ts',
  'test/flows/access/policy-has-no-way-around.test.ts',
  'test/examples/tracker/checks.test.ts',
  'test/flows/cluster/changed-code.test.ts',
  'test/flows/cluster/killed.test.ts',
  'test/flows/hostile/outages/silence.test.ts',
  'test/flows/hostile/outages/restart.test.ts',
  'test/unit/adapters/redis/cluster.test.ts',
  'test/flows/events/webhooks-killed.test.ts',
  'test/flows/sessions/processes.test.ts',
  'test/flows/client/faults-stdio.test.ts',
];

/** Starts with the files that take longest. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return at === -1 ? LONGEST.length : at;
}
