import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { testClient } from 'fullmcp/testing';

process.env.TRACKER_FOLDER = mkdtempSync(join(tmpdir(), 'tracker-'));
const { server } = await import('../6-tests/server.ts');
const { addIssue } = await import('../6-tests/issues.ts');

const team = {
  ada: await testClient(server, { caller: { subject: 'ada', scopes: ['issues:read'] } }),
  bob: await testClient(server, { caller: { subject: 'bob', scopes: ['issues:read'] } }),
};

after(async () => {
  await team.ada.close();
  await team.bob.close();
  await server.close();
});

// #region watched
test('each caller has a list of watched issues of its own', async () => {
  const { id } = await addIssue({ title: 'Watched', priority: 'low' });
  await team.ada.callTool('watch_issue', { id });
  assert.deepEqual((await team.ada.callTool('list_watched')).data, { ids: [id] });
  assert.deepEqual((await team.bob.callTool('list_watched')).data, { ids: [] });
});
// #endregion
