import { beforeAll, expect, test } from 'vitest';
import { build, run } from '../../support/examples/program.js';

beforeAll(build, 120_000);

test('the server that is made from an OpenAPI document calls its API, and its process exits', async () => {
  await using program = run('openapi/main.js');
  const lines: string[] = [];
  for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line);
  expect(lines).toEqual([
    'tool listOrders {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}',
    'tool changeOrder {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}',
    'template api://shop/orders/{id}',
    'open {"items":[{"id":1,"status":"open"}],"total":2}',
    'changed {"id":1,"status":"paid"}',
    'read {"id":1,"status":"paid"}',
    'failed PATCH /orders/{id} failed with status 404. Not found. There is no such order.',
    'anonymous GET /orders needs credentials (token), and this server has none for this call.',
    'own greet shop_changeOrder shop_getOrder shop_listOrders shop_reset',
    'trimmed {"items":[{"id":1},{"id":2}]}',
  ]);
  expect(await program.end()).toBe(0);
});
