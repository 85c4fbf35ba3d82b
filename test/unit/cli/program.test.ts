import { expect, test, vi } from 'vitest';
import { endInterruptedLine } from '../../../src/cli/program.js';

test.each([
  ['SIGINT', true, 1],
  ['SIGINT', false, 0],
  // A line that is edited takes Ctrl+C as a key, and ends itself.
  [undefined, true, 0],
] as const)('a line with ^C is ended once, and only at a terminal: %s, %s', (signal, isTTY, times) => {
  const write = vi.fn(() => true);
  endInterruptedLine(signal, { isTTY, write });
  expect(write).toHaveBeenCalledTimes(times);
});
