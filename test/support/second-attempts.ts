import type { Reporter, TestCase } from 'vitest/node';

// CI runs a test that failed once more, because a machine that stands still for seconds fails tests of leases and deadlines that are
// right. A test that needs it is still to be mended, so the end of the run names it.
export default class SecondAttempts implements Reporter {
  readonly #needed: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#needed.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.#needed.length > 0)
      console.log(`These tests passed only at the second attempt:\n${this.#needed.join('\n')}\n`);
  }
}
