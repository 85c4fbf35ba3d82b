import { beforeAll, expect, test } from 'vitest';
import { build, run } from '../../support/examples/program.js';

beforeAll(build, 120_000);

test('the server is called over REST, in Hono and on Node, and its process exits', async () => {
  await using program = run('rest/main.js');
  const lines: string[] = [];
  for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line);
  expect(lines).toEqual([
    'read 200 {"item":"Tea"}',
    'greet 200 Welcome to the shop.',
    'missing 422 {"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"Order 9 does not exist.","code":"tool_failed"}',
    'wrong 422 {"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"Invalid arguments for read_order. id: required (a string), missing. Valid fields: id.","code":"invalid_arguments"}',
    'node Welcome to the shop.',
    "[ '/tools/read_order', '/tools/greet' ]",
  ]);
  expect(await program.end()).toBe(0);
});
