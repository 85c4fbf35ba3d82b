import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { ranked, server } from '../../../examples/search/server.js';

// Runs the code that docs/search.md shows.

describe('the searching server of the guide', () => {
  test('lists two tools and the one that is always listed, and finds and calls the others', async () => {
    await using client = await testClient(server, { caller: { subject: 'ada' } });
    const names = (await client.tools().all()).map(({ name }) => name);
    expect(names).toEqual(['search_tools', 'call_tool', 'help']);
    const { data } = await client.callTool('search_tools', { query: 'bill a customer' });
    expect(data).toMatchObject({ tools: [{ name: 'create_invoice' }] });
    expect(JSON.stringify(data)).not.toContain('delete_invoice');
    const args = { customer: 'Ada', amount: 30 };
    const called = await client.callTool('call_tool', { name: 'create_invoice', arguments: args });
    expect(called.text).toBe('Billed Ada for 30');
  });

  test('ranks by embeddings', async () => {
    await using client = await testClient(ranked);
    const { data } = await client.callTool('search_tools', { query: 'forecast' });
    const { tools } = data as { tools: { name: string }[] };
    expect(tools).toHaveLength(3);
    expect(tools[0]?.name).toBe('get_forecast');
  });
});
