import { testClient } from 'fullmcp/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { season, server } from '../../../examples/compose/mount.js';

// Runs the code that docs/compose.md shows.

describe('the composed server of the guide', () => {
  test('serves the tools and resources of the servers that are mounted in it', async () => {
    await using client = await testClient(server);
    expect((await client.tools().all()).map(({ name }) => name)).toEqual([
      'delivery',
      'weather_forecast',
      'orders_find',
    ]);
    const order = await client.tool.orders_find({ id: 1 });
    expectTypeOf(order).toEqualTypeOf<string>();
    expect(order).toBe('Compass');
    expect((await client.callTool('delivery', { id: 1, city: 'Rome' })).text).toBe('Compass\nRome: sunny');
    expect((await client.readResource('weather+stations://all')).text).toBe('["Rome","Oslo"]');
  });

  test('mounts and removes another server while it runs', async () => {
    await using client = await testClient(server);
    season(12);
    expect((await client.callTool('gifts_wrap')).text).toBe('Wrapped');
    season(1);
    await expect(client.callTool('gifts_wrap')).rejects.toThrow(/Unknown tool: gifts_wrap/);
  });
});
