import type { Reporter, TestModule, Vitest } from 'vitest/node';

// With RECORD=1, the figures of the suites that ran as a whole are written to `records`, and the results of the tests that pages name.

// The scripts are JavaScript without declarations, so their types are stated here.
interface Scripts {
  readonly root: string;
  readPages(): Map<string, string>;
  keyOf(file: string, name: string): string;
  marksOf(text: string): { readonly file?: string; readonly name?: string }[];
  matcherOf(name: string): (other: string) => boolean;
  recordPromises(results: Readonly<Record<string, string>>): void;
  recordSuites(files: readonly object[], results: Readonly<Record<string, string>>): void;
}
const modules = ['files', 'promises', 'records'].map(
  (name) => import(new URL(`../../scripts/${name}.js`, import.meta.url).href),
);
const scripts = Object.assign({}, ...(await Promise.all(modules))) as Scripts;

const RESULTS = ['failed', 'passed', 'skipped'] as const;

/** Writes records at the end of a run. */
export default class Recorder implements Reporter {
  #isWhole = false;
  #leavesOut = false;

  onInit({ config }: Vitest): void {
    const files = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'));
    this.#leavesOut = config.testNamePattern !== undefined;
    this.#isWhole = files.length === 0 && !this.#leavesOut;
  }

  onTestRunEnd(files: readonly TestModule[]): void {
    // A run of some tests by their names skips the others: that says nothing about them.
    const results = namedResults(files, this.#leavesOut ? ['failed', 'passed'] : RESULTS);
    try {
      if (this.#isWhole) scripts.recordSuites(files.map(countsOf), results);
      else scripts.recordPromises(results);
    } catch (error) {
      console.error(`Nothing is recorded. ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}

/** The result of each test that a page names: that of all rows, if it has a table. */
function namedResults(files: readonly TestModule[], known: readonly string[]): Record<string, string> {
  const results: Record<string, string> = {};
  // Tables of tests are in files of their own, which others import.
  const isTest = (path: string): boolean => path.endsWith('.test.ts');
  for (const text of scripts.readPages().values()) {
    for (const { file = '', name = '' } of scripts.marksOf(text)) {
      const matches = scripts.matcherOf(name);
      const tests = files
        .filter(({ relativeModuleId }) => relativeModuleId === file || !isTest(file))
        .flatMap(({ children }) => [...children.allTests()])
        .filter(({ fullName }) => matches(fullName));
      const states = new Set(tests.map((test) => test.result().state));
      // A row of a table may be skipped, for example where an engine has no such thing.
      const result = known.find((state) => states.has(state as 'passed'));
      if (result !== undefined) results[scripts.keyOf(file, name)] = result;
    }
  }
  return results;
}

function countsOf(file: TestModule): object {
  const states = [...file.children.allTests()].map((test) => test.result().state);
  const count = (state: string): number => states.filter((each) => each === state).length;
  return {
    project: file.project.name,
    file: file.relativeModuleId,
    tests: states.length,
    skipped: count('skipped'),
    failed: count('failed'),
  };
}
