// #region fixture
import { clientFixture, type McpMatchers, matchers } from 'fullmcp/testing';
import { test as base, expect } from 'vitest';
import server from './notebook.js';

expect.extend(matchers);

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<T> {}
}

const test = base.extend({ client: clientFixture(server) }); // the options of testClient go second
// #endregion

// #region received
test('write announces a change, and only if there is one', async ({ client }) => {
  await client.subscribe({ uris: ['note://a'], tools: true });
  await client.callTool('write', { line: 'milk' });
  await expect(client).toHaveReceivedUpdate('note://a');
  await expect(client).not.toHaveReceived('tools/list_changed');

  client.received.length = 0; // forgets what was received
  await client.callTool('write', { line: 'milk' });
  await expect(client).not.toHaveReceivedUpdate('note://a');
});
// #endregion

// #region content
test('draw returns a caption and a picture', async ({ client }) => {
  const result = await client.callTool('draw');
  expect(result).toHaveContent({ type: 'image', mimeType: 'image/png' }); // some block has these fields
  expect(result).toHaveContent([{ text: /dot/ }, { data: new Uint8Array([137, 80, 78, 71]) }]); // all blocks, in order
});
// #endregion
