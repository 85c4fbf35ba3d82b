// #region builders
import { McpError, type Middleware } from 'fullmcp';
import { buildCall, toolResult } from 'fullmcp/testing';
import { expect, test } from 'vitest';

const readOnly: Middleware = async (call, next) => {
  call.notify('notifications/message', { level: 'info', data: `${call.method} from ${call.auth?.subject}` });
  if (call.params['name'] === 'wipe') throw new McpError('forbidden', 'Reading only');
  return next(call);
};

test('the middleware lets a read pass, and logs the caller', async () => {
  const auth = { subject: 'ada', scopes: [], claims: {} };
  const call = buildCall('tools/call', { name: 'price' }, { auth }); // a complete call; the other fields have defaults
  expect(await readOnly(call, async () => toolResult('three'))).toEqual(toolResult('three'));
  expect(call.notifications).toMatchObject([{ params: { data: 'tools/call from ada' } }]);
});

test('the middleware rejects a wipe', async () => {
  const wipe = readOnly(buildCall('tools/call', { name: 'wipe' }), async () => toolResult('done'));
  await expect(wipe).rejects.toThrow('Reading only');
});
// #endregion
