import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { server } from '../../../examples/handles/server.js';

test('a model passes a handle from one tool to another, and never sees the value', async () => {
  await using client = await connect<typeof server>(server);
  const found = await client.tool.find_orders();
  expect(JSON.stringify(found).length).toBeLessThan(2000);
  expect(found.summary).toMatch(/^An array of 5000 items, 208391 characters of JSON\. Pass the handle/);
  const totals = await client.tool.totals({ orders: found.handle as never });
  expect(totals).toEqual({ DE: 60_000, FR: 61_250, PL: 62_500, SE: 63_750 });
  await server.close();
});
