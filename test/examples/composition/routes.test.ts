import { beforeAll, expect, test } from 'vitest';
import { build, run } from '../../support/examples/program.js';

beforeAll(build, 120_000);

test('the routes of apps of Hono, Express and Fastify are called as tools, and the process exits', async () => {
  await using program = run('routes/main.js');
  const lines: string[] = [];
  for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line);
  expect(lines).toEqual([
    'tool placeOrder',
    'tool readOrder',
    'read {"id":"1","item":"Tea"}',
    'placed {"id":"2","item":"Cake","by":"nobody"}',
    'missing GET /orders/{id} failed with status 404. There is no such order.',
    'the app {"id":"2","item":"Cake","by":"nobody"}',
    'stock {"left":12}',
    'rate {"rate":1.5}',
  ]);
  expect(await program.end()).toBe(0);
});
