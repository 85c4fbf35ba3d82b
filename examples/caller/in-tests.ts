import { connect } from 'fullmcp/client';
import { testClient } from 'fullmcp/testing';
import { server } from './server.js';

export async function inTests(): Promise<unknown[]> {
  // #region tests
  // The caller that handlers see as `ctx.auth`, over any transport.
  await using ada = await testClient(server, { caller: { subject: 'ada' } });
  const added = await ada.callTool('add_note', { text: 'numbers' });

  // The same without the test kit, in this process.
  await using bob = await connect(server, { caller: { subject: 'bob' } });
  const other = await bob.callTool('add_note', { text: 'bridges' });

  // Headers, for a server whose `user` function reads them.
  await using guest = await testClient(server, { over: 'http', headers: { 'x-account': 'eve' } });
  const third = await guest.callTool('add_note', { text: 'apples' });
  // #endregion
  return [added.text, other.text, third.text];
}
