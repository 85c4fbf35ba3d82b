import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestCase } from 'vitest/node';

// CI runs a test that failed once more, because a machine that stands still for seconds fails tests of leases and deadlines that are
// right. A test that needs it is still to be mended, so the end of the run names it, and `test/second-attempts.json` counts how often
// that happened: a test that is named for the third time fails the run.

const LIST = fileURLToPath(new URL('../second-attempts.json', import.meta.url));
const ALLOWED = 2;

/** How often each test was named. */
type Recorded = Readonly<Record<string, number>>;

/** Names and counts the tests that passed only at the second attempt, and fails the run if one of them was named twice before. */
export default class SecondAttempts implements Reporter {
  readonly #list: string;
  readonly #needed = new Map<string, readonly string[]>();

  constructor({ list = LIST }: { readonly list?: string } = {}) {
    this.#list = list;
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
    if (this.#needed.size === 0) return;
    // Read only now: the lanes of CI run one after the other, and count together.
    const recorded = read(this.#list);
    const named = [...this.#needed].map(([name, reasons]) => ({
      name,
      reasons,
      times: (Object.hasOwn(recorded, name) ? (recorded[name] ?? 0) : 0) + 1,
    }));
    const others = named.filter(({ times }) => times <= ALLOWED);
    const tooOften = named.filter(({ times }) => times > ALLOWED);
    if (others.length > 0) {
      const counted = Object.fromEntries(others.map(({ name, times }) => [name, times]));
      const lines = others.map(({ name, times, reasons }) =>
        told(`${JSON.stringify(name)}: ${times}`, reasons),
      );
      console.log(
        `These tests passed only at the second attempt. Mend them. A run fails when it names a test for the third time, so ` +
          `${write(this.#list, { ...recorded, ...counted })}:\n${lines.join('\n')}\n`,
      );
    }
    if (tooOften.length === 0) return;
    console.log(
      `These tests passed only at the second attempt, and test/second-attempts.json records ${ALLOWED} such runs already. Mend them, and remove their lines:\n` +
        `${tooOften.map(({ name, reasons }) => told(name, reasons)).join('\n')}\n`,
    );
    process.exitCode = 1;
  }
}

function told(name: string, reasons: readonly string[]): string {
  return [`  ${name}`, ...reasons.map((reason) => `    ${reason}`)].join('\n');
}

function read(list: string): Recorded {
  try {
    return JSON.parse(readFileSync(list, 'utf8')) as Recorded;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Writes the list, and says what is left to do. */
function write(list: string, recorded: Recorded): string {
  const sorted = Object.fromEntries(Object.entries(recorded).sort(([a], [b]) => (a < b ? -1 : 1)));
  try {
    writeFileSync(list, `${JSON.stringify(sorted, undefined, 2)}\n`);
    return 'commit these lines of test/second-attempts.json';
  } catch (error) {
    return `set these lines in test/second-attempts.json, which could not be written (${(error as NodeJS.ErrnoException).code})`;
  }
}
