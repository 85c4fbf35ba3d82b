import assert from 'node:assert/strict';
import { mintToken, sharedSecretJwt } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { testClient } from 'fullmcp/testing';
import { server } from './server.js';

/** Tests the rules alone: the caller is given, and no token is needed. */
export async function rulesInTests(): Promise<void> {
  // #region rules
  const caller = { subject: 'bea', scopes: ['notes:read'] };
  await using bea = await testClient(server, { caller });
  assert.equal((await bea.callTool('read_notes')).text, 'No notes yet');
  await assert.rejects(bea.callTool('add_note', { text: 'x' }), { code: 'forbidden' });
  // #endregion
}

/** Tests the whole way, with tokens of the test. */
export async function edgeInTests(): Promise<void> {
  // #region edge
  const issued = { secret: 'only for tests: at least 32 bytes', issuer: 'tests', audience: 'notes' };
  await using serving = await serve(server, { port: 0, auth: sharedSecretJwt(issued) });
  await assert.rejects(connect(serving.url), { code: 'unauthorized' });

  const token = await mintToken({ sub: 'bea', scope: 'notes:read' }, { ...issued, expiresIn: '5m' });
  await using bea = await connect(serving.url, { auth: token });
  assert.equal((await bea.callTool('read_notes')).text, 'No notes yet');
  // #endregion
}
