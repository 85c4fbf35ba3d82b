import { inProcess, McpError, ToolError } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { mockServer } from '../../../src/testing/mock-server.js';

function mock() {
  return mockServer({
    name: 'shop',
    tools: {
      add: ({ a, b }) => a + b,
      motd: 'Hello',
      stock: { apples: 3 },
      broken: new ToolError('Out of order'),
      priced: {
        description: 'Gives a price',
        inputSchema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
        outputSchema: { type: 'object', properties: { price: { type: 'number' } } },
        result: () => ({ price: 5 }),
      },
    },
    resources: { 'shop://hours': '9 to 5', 'shop://items/{id}': ({ id }) => `Item ${id}` },
    prompts: { greet: 'Say hello', order: ({ item }) => `Order ${item}` },
    methods: { 'shop/open': { open: true } },
  });
}

describe('a mock server', () => {
  test('answers with values and with the results of functions, and validates arguments', async () => {
    const ask = inProcess(mock());
    const call = (name: string, args = {}) => ask('tools/call', { name, arguments: args });
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
    expect(await call('motd')).toMatchObject({ content: [{ text: 'Hello' }] });
    expect(await call('stock', { whatever: true })).toMatchObject({ structuredContent: { apples: 3 } });
    expect(await call('broken')).toMatchObject({ isError: true, content: [{ text: 'Out of order' }] });
    expect(await call('priced', { item: 'pear' })).toMatchObject({ structuredContent: { price: 5 } });
    expect(await call('priced')).toMatchObject({ isError: true });
    expect(await ask('resources/read', { uri: 'shop://hours' })).toMatchObject({
      contents: [{ text: '9 to 5' }],
    });
    expect(await ask('resources/read', { uri: 'shop://items/7' })).toMatchObject({
      contents: [{ text: 'Item 7' }],
    });
    expect(await ask('prompts/get', { name: 'order', arguments: { item: 'tea' } })).toMatchObject({
      messages: [{ content: { text: 'Order tea' } }],
    });
    expect(await ask('shop/open')).toMatchObject({ open: true });
  });

  test('lists its definitions', async () => {
    const { tools } = (await inProcess(mock())('tools/list')) as unknown as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['add', 'motd', 'stock', 'broken', 'priced']);
    expect(tools[4]).toMatchObject({ description: 'Gives a price', inputSchema: { required: ['item'] } });
  });

  test('records its requests', async () => {
    const server = mock();
    const ask = inProcess(server);
    await ask('tools/call', { name: 'add', arguments: { a: 1, b: 2 } });
    await ask('resources/read', { uri: 'shop://hours' });
    expect(server.calls.map(({ method, name }) => [method, name])).toEqual([
      ['tools/call', 'add'],
      ['resources/read', 'shop://hours'],
    ]);
    expect(server.callsTo('add')).toMatchObject([{ args: { a: 1, b: 2 } }]);
  });

  test('fails on demand, once or until it is healed, for tools, resources and methods', async () => {
    const server = mock();
    const ask = inProcess(server);
    const motd = () => ask('tools/call', { name: 'motd', arguments: {} });
    server.failOnce('motd', 'Not today');
    expect(await motd()).toMatchObject({ isError: true, content: [{ text: 'Not today' }] });
    expect(await motd()).not.toHaveProperty('isError');
    server.fail('motd', new McpError('overloaded', 'Too much'));
    await expect(motd()).rejects.toMatchObject({ code: 'overloaded' });
    await expect(motd()).rejects.toMatchObject({ code: 'overloaded' });
    server.heal('motd');
    expect(await motd()).toMatchObject({ content: [{ text: 'Hello' }] });
    server.fail('shop://hours', 'Closed');
    await expect(ask('resources/read', { uri: 'shop://hours' })).rejects.toThrow('Closed');
    server.fail('tools/list', 'No list');
    await expect(ask('tools/list')).rejects.toThrow('No list');
  });

  test('hangs on demand, until the call is cancelled', async () => {
    const server = mock();
    server.hang('motd');
    const controller = new AbortController();
    const open = inProcess(server)(
      'tools/call',
      { name: 'motd', arguments: {} },
      { signal: controller.signal },
    );
    controller.abort();
    await expect(open).rejects.toMatchObject({ code: 'cancelled' });
    expect(server.callsTo('motd')).toHaveLength(1);
  });
});
