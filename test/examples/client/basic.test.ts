import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { build, type Program, run } from '../../support/examples/program.js';

beforeAll(build, 120_000);

const lines = ['Connected to math, which speaks 2026-07-28', '- add: Add two numbers', '2 + 40 = 42'];

async function expectSum(program: Program): Promise<void> {
  expect([await program.line(), await program.line(), await program.line()]).toEqual(lines);
  expect(await program.end()).toBe(0);
  expect(program.errors()).toBe('');
}

test('the basic client is shorter than 15 lines', () => {
  const source = readFileSync(new URL('../../../examples/basic-client/main.ts', import.meta.url), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThan(15);
});

test('the basic client starts a script, calls its tool, and exits', async () => {
  await using program = run('basic-client/main.js', ['build/examples/basic-server/stdio.js']);
  await expectSum(program);
});

test('the basic client connects to a URL from its argument or from the environment', async () => {
  await using server = run('basic-server/http.js', [], { PORT: '0' });
  const url = (await server.line())?.replace('Listening on ', '') ?? '';
  await using byArgument = run('basic-client/main.js', [url]);
  await expectSum(byArgument);
  await using byEnvironment = run('basic-client/main.js', [], { MCP_SERVER_URL: url });
  await expectSum(byEnvironment);
});
