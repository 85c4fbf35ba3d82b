import { expect, test } from 'vitest';
import { printLogLine } from '../../../src/tooling/process-output.js';

const logged = {
  time: '2026-01-01T00:00:00.000Z',
  level: 'warning',
  server: 'shop',
  message: 'a name has a dot',
};

test('a line that a server logs as JSON is printed in words', () => {
  expect(printLogLine(JSON.stringify(logged))).toBe('warning: a name has a dot');
  const error = {
    name: 'TypeError',
    message: 'cold',
    stack: 'TypeError: cold\n    at bake (/shop/oven.ts:3:9)\n    at Socket.emit (node:events:524:28)',
  };
  expect(printLogLine(JSON.stringify({ ...logged, message: 'Tool "bake" failed', error }))).toBe(
    'Tool "bake" failed: TypeError: cold\n    at bake (/shop/oven.ts:3:9)',
  );
});

test.each([
  'ready',
  '{"time":',
  '{"time":1,"level":"info"}',
  JSON.stringify({ ...logged, orders: 3 }),
  JSON.stringify([logged]),
])('a line that says something else, or more, is printed as it is: %s', (line) => {
  expect(printLogLine(line)).toBe(line);
});
