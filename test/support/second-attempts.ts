import type { Reporter, TestCase } from 'vitest/node';

// CI runs a test that failed once more, because a machine that stands still for seconds fails tests of leases and deadlines that are
// right. A test that needs it is still to be mended, so the end of the run names it.
export default class SecondAttempts implements Reporter {
  readonly #needed: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(({ message, stacks }) => {
      const place = stacks?.[0];
      return `  ${message.split('\n', 4).join(' ')}${place ? ` (${place.file}:${place.line})` : ''}`;
    });
    this.#needed.push([`${test.module.relativeModuleId} > ${test.fullName}`, ...reasons].join('\n'));
  }

  onTestRunEnd(): void {
    if (this.#needed.length > 0)
      console.log(`These tests passed only at the second attempt:\n${this.#needed.join('\n')}\n`);
  }
}
