import { readFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

// CI runs a test that failed once more, because a machine that stands still for seconds fails tests of leases and deadlines that are
// right. A test that needs it is still to be mended, so the end of the run names it, and `test/second-attempts.json` records how often
// that happened: a test that is named for the third time fails the run.

const LIST = 'test/second-attempts.json';
const ALLOWED = 2;

/** How often each test was named, as recorded in the repository. */
type Recorded = Readonly<Record<string, number>>;

/** Names the tests that passed only at the second attempt, and fails the run if one of them was recorded twice before. */
export default class SecondAttempts implements Reporter {
  readonly #recorded: Recorded;
  readonly #print: (text: string) => void;
  readonly #needed = new Map<string, readonly string[]>();

  constructor({
    recorded = readRecorded(),
    print = console.log,
  }: {
    readonly recorded?: Recorded;
    readonly print?: (text: string) => void;
  } = {}) {
    this.#recorded = recorded;
    this.#print = print;
  }

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(({ message, stacks }) => {
      const place = stacks?.[0];
      return `${message.split('\n', 4).join(' ')}${place ? ` (${place.file}:${place.line})` : ''}`;
    });
    this.#needed.set(`${test.module.relativeModuleId} > ${test.fullName}`, reasons);
  }

  onTestRunEnd(): void {
    const tooOften = [...this.#needed].filter(([name]) => this.#timesOf(name) > ALLOWED);
    const others = [...this.#needed].filter(([name]) => this.#timesOf(name) <= ALLOWED);
    if (others.length > 0)
      this.#print(
        `These tests passed only at the second attempt. Mend them, or set these lines in ${LIST}; a run fails when it names a test for ` +
          `the third time:\n${others.map(([name, reasons]) => told(`${JSON.stringify(name)}: ${this.#timesOf(name)}`, reasons)).join('\n')}\n`,
      );
    if (tooOften.length === 0) return;
    this.#print(
      `These tests passed only at the second attempt, and ${LIST} records ${ALLOWED} such runs already. Mend them, and remove their lines:\n` +
        `${tooOften.map(([name, reasons]) => told(name, reasons)).join('\n')}\n`,
    );
    process.exitCode = 1;
  }

  /** How often the test was named, this time included. */
  #timesOf(name: string): number {
    return (Object.hasOwn(this.#recorded, name) ? (this.#recorded[name] ?? 0) : 0) + 1;
  }
}

function told(name: string, reasons: readonly string[]): string {
  return [`  ${name}`, ...reasons.map((reason) => `    ${reason}`)].join('\n');
}

function readRecorded(): Recorded {
  return JSON.parse(readFileSync(new URL('../second-attempts.json', import.meta.url), 'utf8')) as Recorded;
}
