import { expect, test } from 'vitest';
import { processName } from '../../../../src/transports/client/process-name.js';

test.each([
  ['node', ['/x/node_modules/fullmcp/dist/cli/fullmcp.js', 'run', './zoo.js'], './zoo.js'],
  ['node', ['C:\\x\\fullmcp.js', 'run', 'zoo.ts', '--as', 'ada'], 'zoo.ts'],
  ['npx', ['-y', 'fullmcp@0.2.0', 'run', 'zoo.mjs'], 'zoo.mjs'],
  ['/usr/bin/fullmcp', ['run', 'zoo.js'], 'zoo.js'],
  ['fullmcp', ['proxy', 'https://a.example'], 'fullmcp proxy …'],
  ['node', ['my-fullmcp.js', 'run', 'zoo.js'], 'node my-fullmcp.js …'],
  ['fullmcp', ['run', 'token-of-ada'], 'fullmcp run …'],
])('the process %s %j is called %s', (command, args, name) => {
  expect(processName({ command, args })).toBe(name);
});
