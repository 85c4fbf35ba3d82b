import { createServer } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { fromRoutes } from 'fullmcp/openapi';
import { expect, test } from 'vitest';
import { shops } from '../support/apps/shops.js';

const cases = Object.entries(shops);

test.each(cases)('%s: the routes are tools with their names, titles and schemas', async (_, make) => {
  const { app, options } = await make();
  await using client = await connect(createServer({ ...(await fromRoutes(app, options)), name: 'shop' }));
  const tools = [...(await client.tools().all())].sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(tools.map(({ name, title }) => [name, title])).toEqual([
    ['placeOrder', 'Places an order'],
    ['readOrder', 'Reads an order'],
  ]);
  expect(tools[0]?.inputSchema).toMatchObject({
    type: 'object',
    properties: { item: { type: 'string' }, count: { type: 'integer' } },
    required: ['count', 'item'].sort(),
  });
  expect(tools[0]?.outputSchema).toMatchObject({
    type: 'object',
    properties: { item: { type: 'string' }, count: { type: 'number' }, actor: { type: 'string' } },
  });
  expect(tools[1]?.inputSchema).toMatchObject({
    properties: { id: { type: 'string' }, verbose: { type: 'boolean' } },
    required: ['id'],
  });
  expect(tools[1]?.annotations).toMatchObject({ readOnlyHint: true });
});

test.each(cases)(
  '%s: a call reaches the handler with its arguments, in the same process',
  async (_, make) => {
    const { app, options } = await make();
    const api = await fromRoutes(app, {
      ...options,
      headers: ({ auth }) => ({ 'X-Actor': auth?.subject ?? 'guest' }),
    });
    await using client = await connect(createServer({ ...api, name: 'shop' }));
    const odd = 'a/b?c=%2f&d#é';
    const read = await client.callTool('readOrder', { id: odd, tags: ['x', 'y&z'] });
    expect(read.data).toEqual({ id: odd, seen: ['tags=x', 'tags=y&z'] });
    const placed = await client.callTool('placeOrder', { item: 'Tea', count: 2 });
    expect(placed.data).toEqual({ item: 'Tea', count: 2, actor: 'guest' });
    const wrong = await client.callTool('placeOrder', { item: 'Tea' });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('count') });
  },
);

test.each(cases)('%s: a route can be a resource or nothing, by the rules of fromOpenAPI', async (_, make) => {
  const { app, options } = await make();
  const api = await fromRoutes(app, {
    ...options,
    rules: [
      { path: '/orders/*', as: 'resource' },
      { methods: ['POST'], as: 'nothing' },
    ],
  });
  await using client = await connect(createServer({ ...api, name: 'shop' }));
  expect(await client.tools().all()).toEqual([]);
  const { text } = await client.readResource('api://app/orders/7');
  expect(JSON.parse(text)).toEqual({ id: '7', seen: [] });
});
