import { expect, test } from 'vitest';

interface Records {
  readLog(log: string): { suites: object[]; records: { name: string; command: string; figures: unknown }[] };
  commitProblem(commit: string | undefined, options?: { release?: boolean }): string | undefined;
}
const { readLog, commitProblem } = (await import(
  new URL('../../../scripts/records.js', import.meta.url).href
)) as Records;

const summary = (tests: number): string =>
  ` Test Files  2 passed (2)\n      Tests  ${tests} passed (${tests})\n`;

test('a log has the figures of each suite that ran as a whole, and of no other', () => {
  const log = [
    '== npm test',
    ' \u001b[32m✓\u001b[39m  quick  test/unit/a.test.ts (3 tests | 1 skipped) 4ms',
    ' ✓  alone  test/unit/b.test.ts (1 test) 5ms',
    summary(4),
    '== npm test took 133 s',
    '== npm exec -- vitest run --project=quick test/unit/a.test.ts',
    ' ✓  quick  test/unit/a.test.ts (3 tests) 4ms',
    summary(3),
  ];
  expect(readLog(log.join('\n')).suites).toEqual([
    { project: 'quick', file: 'test/unit/a.test.ts', tests: 3, skipped: 1, failed: 0 },
    { project: 'alone', file: 'test/unit/b.test.ts', tests: 1, skipped: 0, failed: 0 },
  ]);
});

test('a log that lacks lines is refused, because its figures would be too small', () => {
  const log = `== npm test\n ✓  quick  test/unit/a.test.ts (3 tests) 4ms\n${summary(4)}`;
  expect(() => readLog(log)).toThrow('lists 3 tests, and Vitest says 4');
});

test('the last lines of the other harnesses have their figures', () => {
  const log = [
    '== timeout 900 npm run chaos',
    'postgres: SIGKILL 4, SIGTERM 1, steps repeated 5; lost 0, doubled 0; errors {"connect_failed":9}; seed 900788646',
    '38 seeds per second (58 simulated hours), 782 events each',
    'simulation: seeds 8000 failures 0',
    'chaos: postgres lost 0 doubled 0; simulation seeds 8000 failures 0',
    '== npm run conformance',
    'conformance: server 2025-11-25 33/33, 2026-07-28 52/53; client 2026-07-28 43/43; warnings 2',
    '== npm run stacks -- --count 2000',
    'stacks: 2000 failures 1',
    '== npm run coverage',
    'Statements   : 94.67% ( 45507/48066 )',
    'Branches     : 89.81% ( 30284/33717 )',
    'Functions    : 95.01% ( 11889/12513 )',
    'Lines        : 96.31% ( 38701/40183 )',
    '== node test/mutation/run.js',
    'server/asking: 93.2 % (410 of 440 noticed, 30 not)',
    '  src/server/asking/steps.ts:12 BooleanLiteral → false',
    'protocol: 90 % (45 of 50 noticed, 5 not; in 300 of 7430 lines, drawn with the seed 1)',
    'mutation: server/asking 93.2 %; protocol 90 %',
  ];
  const figures = Object.fromEntries(
    readLog(log.join('\n')).records.map((record) => [record.name, record.figures]),
  );
  expect(figures).toMatchObject({
    chaos: {
      engines: { postgres: { SIGKILL: 4, 'steps repeated': 5, lost: 0, doubled: 0, seed: 900788646 } },
      simulation: { seeds: 8000, failures: 0, hours: 58 },
    },
    conformance: { server: { '2026-07-28': { passed: 52, scenarios: 53 } }, warnings: 2 },
    stacks: { stacks: 2000, failures: 1 },
    coverage: { lines: { percent: 96.31, covered: 38701, all: 40183 } },
    mutation: {
      'server/asking': { killed: 410, survived: 30, score: 93.2 },
      protocol: { killed: 45, survived: 5, score: 90, sample: { changed: 300, lines: 7430, seed: 1 } },
    },
  });
});

test('a record without a commit, or of a commit that is not part of the history, is refused', () => {
  expect(commitProblem(undefined)).toBe('names no commit');
  expect(commitProblem('not a commit')).toBe('names no commit');
});
