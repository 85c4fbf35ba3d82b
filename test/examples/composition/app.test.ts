import { appsClient, readApp } from 'fullmcp/apps';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import sandbox from '../../../examples/app/sandbox.js';
import { server } from '../../../examples/app/server.js';

// Runs the server that docs/apps.md shows. test/browser/apps shows its page in a browser.

describe('the server with an app of the guide', () => {
  test('gives hosts that show apps a page and data, and others text', async () => {
    await using host = await testClient(server, { extensions: [appsClient] });
    const [sales] = await host.tools().all();
    const page = await readApp(host, sales as NonNullable<typeof sales>);
    expect(page?.html).toContain('<title>Sales</title>');
    const { data } = await host.callTool('sales_data', { year: 2026 });
    expect(data).toMatchObject({ year: 2026 });

    await using other = await testClient(server);
    const { text } = await other.callTool('sales', { year: 2026 });
    expect(text).toMatch(/^Sales of 2026 by month: \d+/);
    await expect(other.callTool('sales_data', { year: 2026 })).rejects.toThrow('Unknown tool');
  });

  test('has a sandbox that only its host may use', async () => {
    const reply = sandbox.fetch(new Request('https://sandbox.example.com/?origins='));
    expect(reply.headers.get('connection-allowlist')).toBe('();redirects=allow');
    expect(reply.headers.get('content-security-policy')).toBe(
      "frame-ancestors https://chat.example.com; frame-src 'none'",
    );
    expect(await reply.text()).toContain('relayApp(["https://chat.example.com"])');
  });
});
