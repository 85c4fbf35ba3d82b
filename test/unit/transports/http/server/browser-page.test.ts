import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { createServer, tool } from 'fullmcp';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, serve } from 'fullmcp/node';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

function shop(name = 'shop') {
  return createServer({
    name,
    version: '1.0.0',
    logger: () => undefined,
    tools: { it: tool({ run: () => 1 }) },
  });
}

/** The text of a page, which must be harmless. */
async function pageOf(reply: Response): Promise<string> {
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  const html = await reply.text();
  const style = /<style>(.*)<\/style>/.exec(html)?.[1] ?? '';
  const digest = createHash('sha256').update(style).digest('base64');
  expect(reply.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(html).not.toMatch(/<script|<a |<img|<link|javascript:| on\w+=/i);
  return html;
}

describe('a person who opens a server in a browser', () => {
  it('reads at the endpoint and at the root where it is and how to connect, and other clients get what they got before', async () => {
    const serving = await serve(shop(), { port: 0, signals: false, exit: false });
    onTestFinished(() => serving.close());
    const root = new URL('/', serving.url).href;
    for (const url of [serving.url, root]) {
      const html = await pageOf(await fetch(url, { headers: BROWSER }));
      expect(html).toContain('<h1>shop: an MCP server</h1>');
      expect(html).toContain(`<code>${serving.url}</code>`);
      expect(html).toContain(`npx fullmcp inspect ${serving.url}`);
    }
    const other = new URL('/other', serving.url).href;
    expect((await fetch(other, { headers: BROWSER })).status).toBe(404);
    expect((await fetch(root)).status).toBe(404);
    const plain = await fetch(serving.url);
    expect([plain.status, await plain.text()]).toEqual([405, expect.stringContaining('Mcp-Session-Id')]);
    const stream = await fetch(serving.url, { headers: { accept: 'text/event-stream, text/html' } });
    expect(stream.status).toBe(405);
    const post = await fetch(serving.url, { method: 'POST', headers: BROWSER, body: '{}' });
    expect(post.headers.get('content-type')).toContain('application/json');
  });

  it('gets the page from a fetch handler and from every framework, with the address of the request', async () => {
    const handler = createHandler(shop());
    onTestFinished(() => handler.close());
    const web = await handler(new Request('http://localhost:8787/tools/mcp', { headers: BROWSER }));
    expect(await pageOf(web)).toContain('<code>http://localhost:8787/tools/mcp</code>');
    const hono = new Hono().all('/mcp', (c) => handler(c.req.raw));
    const own = await hono.request('http://localhost:1/mcp', { headers: BROWSER });
    expect(await pageOf(own)).toContain('<code>http://localhost:1/mcp</code>');
    const refused = await createHandler(shop(), { sessions: false })(new Request('http://localhost/mcp'));
    expect(refused.status).toBe(405);

    const node = createNodeHandler(shop());
    onTestFinished(() => node.close());
    const app = createHttpServer(express().use('/mcp', node)).listen(0, '127.0.0.1');
    onTestFinished(() => void app.close());
    await once(app, 'listening');
    const at = `http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`;
    expect(await pageOf(await fetch(at, { headers: BROWSER }))).toContain(`<code>${at}</code>`);

    const fast = fastify();
    onTestFinished(() => fast.close());
    await fast.register(createPlugin(shop()), { prefix: '/mcp' });
    const injected = await fast.inject({ url: '/mcp', headers: { ...BROWSER, host: 'localhost' } });
    expect([injected.statusCode, injected.body]).toEqual([
      200,
      expect.stringContaining('http://localhost/mcp'),
    ]);
  });

  it('does not learn the name of a server with auth, gets publicUrl, and nothing at a host that is not allowed', async () => {
    const secretive = createHandler(shop('payroll'), {
      auth: () => {
        throw new Error('Nobody is asked');
      },
      publicUrl: 'https://mcp.example.com/mcp',
    });
    onTestFinished(() => secretive.close());
    const html = await pageOf(await secretive(new Request('http://localhost/mcp', { headers: BROWSER })));
    expect(html).toContain('<h1>An MCP server</h1>');
    expect(html).toContain('<code>https://mcp.example.com/mcp</code>');
    expect(html).not.toContain('payroll');
    const elsewhere = await secretive(new Request('http://evil.example/mcp', { headers: BROWSER }));
    expect(elsewhere.status).toBe(403);
    const foreign = new Request('http://localhost/mcp', {
      headers: { ...BROWSER, origin: 'https://evil.example' },
    });
    expect((await secretive(foreign)).status).toBe(403);
  });

  it('sees names and addresses as text, whatever characters they have', async () => {
    const handler = createHandler(shop('<script>alert(1)</script>&"\''));
    onTestFinished(() => handler.close());
    const url = "http://localhost/'$(reboot)/mcp";
    const html = await pageOf(await handler(new Request(url, { headers: BROWSER })));
    expect(html).toContain('&#60;script&#62;alert(1)&#60;/script&#62;&#38;&#34;&#39;');
    expect(html).toContain('inspect &#39;http://localhost/&#39;\\&#39;&#39;$(reboot)/mcp&#39;');
  });
});

describe('a host that is not allowed', () => {
  it('is answered with publicUrl as the cure if the endpoint has auth, and otherwise with allowedHosts', async () => {
    const ask = async (options: object): Promise<string> => {
      const handler = createHandler(shop(), options);
      onTestFinished(() => handler.close());
      return (await handler(new Request('http://mcp.example.com/mcp', { method: 'POST' }))).text();
    };
    const auth = (): undefined => undefined;
    expect(await ask({ auth })).toContain(
      'set publicUrl, or MCP_PUBLIC_URL, to the address that clients use.',
    );
    expect(await ask({ auth, publicUrl: 'https://other.example/mcp' })).toContain('add it to allowedHosts');
    expect(await ask({})).toContain('add it to allowedHosts');
  });
});
