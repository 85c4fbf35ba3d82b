import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { oauth } from 'fullmcp/oauth';
import { testClient } from 'fullmcp/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { start as startGoogle } from '../../../examples/recipes/google-login.js';
import tenants from '../../../examples/recipes/tenants.js';
import { freePort } from '../../support/free-port.js';
import { googleRoutes } from '../../support/oauth/upstreams/google.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../support/oauth/upstreams/open-id.js';
import { UpstreamStandIn } from '../../support/oauth/upstreams/stand-in.js';
import { TestUser } from '../../support/oauth/user.js';

// Runs the recipes about who is calling.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const namesOf = async (client: Awaited<ReturnType<typeof connect>>) =>
  (await client.tools().all()).map(({ name }) => name);

it('the recipe for admins hides the tool from all others, who get the error of an unknown tool', async () => {
  vi.stubEnv('ADMIN_KEY', 'a-key-of-an-admin');
  vi.stubEnv('STAFF_KEY', 'a-key-of-the-staff');
  vi.stubEnv('PORT', '0');
  const { default: directory } = await import('../../../examples/recipes/admin-tool.js');
  await using serving = await serve(directory);
  await using admin = await connect(serving.url, { auth: 'a-key-of-an-admin' });
  await using staff = await connect(serving.url, { auth: 'a-key-of-the-staff' });
  expect(await namesOf(admin)).toEqual(['list_users', 'remove_user']);
  expect(await namesOf(staff)).toEqual(['list_users']);
  const refused = await staff.callTool('remove_user', { name: 'carl' }).catch(String);
  const unknown = await staff.callTool('remove_usex', { name: 'carl' }).catch(String);
  expect(refused).toBe(String(unknown).replace('remove_usex', 'remove_user'));
  expect((await admin.callTool('remove_user', { name: 'carl' })).text).toBe('carl was removed');
  await expect(connect(serving.url)).rejects.toMatchObject({ code: 'unauthorized' });
});

it('the recipe for tenants keeps their data apart, and refuses a caller without a tenant', async () => {
  const of = (tenant: string) => testClient(tenants, { caller: { subject: 'ada', claims: { tenant } } });
  await using acme = await of('acme');
  await using globex = await of('globex');
  expect((await acme.callTool('add_note', { text: 'Our secret' })).text).toBe('Note 1 of acme');
  expect((await globex.callTool('add_note', { text: 'Hello' })).text).toBe('Note 1 of globex');
  expect(JSON.parse((await globex.readResource('notes://all')).text)).toEqual(['Hello']);
  await using nobody = await testClient(tenants, { caller: { subject: 'eve' } });
  await expect(nobody.callTool('add_note', { text: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
});

it('the recipe for a script lets it in with its key, and with no other', async () => {
  vi.stubEnv('API_KEY', '0123456789abcdef');
  vi.stubEnv('PORT', '0');
  const { serving, report } = await import('../../../examples/recipes/api-key.js');
  closing.push(() => serving.close());
  expect(JSON.parse(await report(serving.url, '0123456789abcdef'))).toEqual({ orders: 12, total: 480 });
  await expect(report(serving.url, 'another-key')).rejects.toMatchObject({ code: 'unauthorized' });
});

describe('the recipe for Google', () => {
  /** Serves the recipe with a stand-in for Google, whose pages the browser of the user reaches at their real addresses. */
  async function serveWith(claims: Readonly<Record<string, unknown>>) {
    const standIn = await UpstreamStandIn.start(
      googleRoutes({ claims: { sub: '7', email: 'ann@example.com', email_verified: true, ...claims } }),
    );
    const port = await freePort();
    const { fetch } = globalThis;
    vi.stubGlobal('fetch', async (address: string | URL | Request, init?: RequestInit) => {
      const url = address instanceof Request ? address.url : String(address);
      if (!url.startsWith('https://accounts.google.com/')) return fetch(address, init);
      return new Response(null, { status: 302, headers: { location: await standIn.visit(url) } });
    });
    for (const [name, value] of Object.entries({
      PORT: String(port),
      MCP_PUBLIC_URL: `http://127.0.0.1:${port}/mcp`,
      GOOGLE_CLIENT_ID: CLIENT_ID,
      GOOGLE_CLIENT_SECRET: CLIENT_SECRET,
    }))
      vi.stubEnv(name, value);
    const serving = await startGoogle({ fetch: standIn.fetch });
    closing.push(() => serving.close());
    return { url: `http://127.0.0.1:${port}/mcp`, auth: oauth({ open: new TestUser().open }) };
  }

  it('logs a user of the company in', async () => {
    const { url, auth } = await serveWith({ hd: 'example.com' });
    await using client = await connect(url, { auth });
    expect((await client.callTool('who_am_i')).text).toBe('ann@example.com');
  });

  it('refuses a user of another company', async () => {
    const { url, auth } = await serveWith({ hd: 'example.net', email: 'eve@example.net' });
    await expect(connect(url, { auth })).rejects.toThrow();
  });
});
