import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import vercel from '../../../examples/deploy/vercel/api/mcp.js';
import { expectMath } from '../../support/examples/wire.js';

// The function is called as Vercel calls it: with a Request.

const url = 'https://mcp-example.vercel.app/mcp';

test('the Vercel function serves both eras', () => expectMath(url, vercel.fetch));

test('a client calls a tool through the Vercel function', async () => {
  const client = await connect(url, {
    fetch: (input, init) => vercel.fetch(new Request(input as string, init)),
  });
  expect((await client.callTool('add', { a: 2, b: 40 })).text).toBe('42');
  await client.close();
});

test('the Vercel function serves the health path', async () => {
  expect((await vercel.fetch(new Request('https://mcp-example.vercel.app/health'))).status).toBe(200);
});
