import { testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { server } from '../../../examples/caller/access.js';
import { accessInTests } from '../../../examples/caller/access-in-tests.js';

// Runs the code that docs/access.md shows.

test('the rules of the guide hold in its own tests', async () => {
  await expect(accessInTests()).resolves.toBeUndefined();
});

test('the rules of the guide hide, challenge and refuse as the page says', async () => {
  const scopes = ['files:read', 'files:write'];
  await using ada = await testClient(server, { over: 'http', caller: { subject: 'ada', scopes } });
  expect((await ada.tools().all()).map(({ name }) => name)).toEqual(['write_file']);
  expect((await ada.readResource('files://ada/plan.txt')).text).toBe('Engines first.');
  await expect(ada.readResource('files://eve/plan.txt')).rejects.toMatchObject({
    code: 'resource_not_found',
  });
  await expect(ada.callTool('delete_all')).rejects.toThrow('Unknown tool: delete_all');
  await expect(
    ada.callTool('write_file', { path: 'ada/large.txt', text: 'x'.repeat(2000) }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  await using admin = await testClient(server, {
    caller: { subject: 'root', scopes: ['files:read'], claims: { role: 'admin' } },
  });
  expect((await admin.tools().all()).map(({ name }) => name)).toEqual(['delete_all']);
  await using nobody = await testClient(server, { over: 'http' });
  expect(await nobody.tools().all()).toEqual([]);
  await expect(nobody.callTool('write_file', { path: 'a', text: '' })).rejects.toMatchObject({
    code: 'unauthorized',
  });
  expect(server.scopes).toEqual(['files:read', 'files:write']);
});
