import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { build, run } from '../support/examples/program.js';
import { expectMath, initialize, modern } from '../support/examples/wire.js';

beforeAll(build, 120_000);

test('the basic server is shorter than 20 lines', () => {
  const source = readFileSync(new URL('../../examples/basic-server/server.ts', import.meta.url), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThan(20);
});

test('the test that README shows passes, and its process exits', async () => {
  await using program = run('basic-server/server.test.js');
  expect(await program.end()).toBe(0);
});

test('the basic server serves both eras over HTTP, and exits on SIGTERM', async () => {
  await using program = run('basic-server/http.js', [], { PORT: '0' });
  const url = (await program.line())?.replace('Listening on ', '') ?? '';
  await expectMath(url);
  program.child.kill('SIGTERM');
  expect(await program.end()).toBe(0);
});

test('the basic server serves both eras on one pipe, and exits when its input ends', async () => {
  await using program = run('basic-server/stdio.js');
  const answer = async (message: object): Promise<unknown> => {
    program.send(message);
    return JSON.parse((await program.line()) ?? 'null');
  };
  const add = modern('tools/call', { name: 'add', arguments: { a: 2, b: 40 } });
  expect(await answer(add.body)).toMatchObject({ result: { content: [{ text: '42' }] } });
  expect(await answer(initialize)).toMatchObject({ result: { serverInfo: { name: 'math' } } });
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  expect(await answer(list)).toMatchObject({ result: { tools: [{ name: 'add' }] } });
  expect(await program.end()).toBe(0);
});
