import assert from 'node:assert/strict';
import { testClient } from 'fullmcp/testing';
import { server } from './access.js';

/** Tests the rules of the server. */
export async function accessInTests(): Promise<void> {
  // #region tests
  const reader = { subject: 'ada', scopes: ['files:read'] };
  await using ada = await testClient(server, { caller: reader });
  assert.deepEqual(await ada.tools().all(), []);

  const writer = { ...reader, scopes: ['files:read', 'files:write'] };
  await using eve = await testClient(server, { caller: { ...writer, subject: 'eve' } });
  await assert.rejects(eve.callTool('write_file', { path: 'ada/plan.txt', text: '' }), /Unknown tool/);
  assert.equal((await eve.callTool('write_file', { path: 'eve/x.txt', text: '' })).text, 'Saved eve/x.txt');
  // #endregion
}
