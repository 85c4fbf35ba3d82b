// #region setup
import { type McpMatchers, matchers, testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import server from './shop.js';

expect.extend(matchers);

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<T> {}
}
// #endregion

// #region matchers
test('the shop has a price tool that reports unknown items', async () => {
  await using client = await testClient(server);
  expect(await client.tools().all()).toHaveTool('price');
  expect(await client.callTool('price', { item: 'pear' })).toHaveData({ item: 'pear', price: 2 });
  expect(await client.callTool('price', { item: 'plum' })).toBeToolError('no plum');
  expect(await client.callTool('wipe')).toHaveText(/admins/);
  await expect(client.callTool('steal')).rejects.toBeMcpError('invalid_params');
});
// #endregion
