import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { createHandler, type HandlerOptions } from 'fullmcp/http';
import { createNodeHandler } from 'fullmcp/node';
import { type ServerCard, type ServerCardOptions, serverCard } from 'fullmcp/server-card';
import { describe, expect, test } from 'vitest';

const definition = {
  name: 'weather',
  version: '1.2.0',
  description: 'Forecasts for cities',
  instructions: 'Only for staff.',
  tools: { launch_missiles: tool({ run: () => 'launched' }) },
};
const publicUrl = 'https://example.com/api/mcp';
const card = serverCard({ name: 'com.example/weather' });

function handlerOf(options: HandlerOptions = {}, more: object = {}) {
  return createHandler(createServer({ ...definition, ...more }), {
    publicUrl,
    card,
    path: '/api/mcp',
    ...options,
  });
}
const get = (path: string, init?: RequestInit): Request => new Request(`https://example.com${path}`, init);

describe('the server card', () => {
  test('has the name, the version, the purpose, the URL and the revisions, and nothing else', async () => {
    const reply = await handlerOf()(get('/api/mcp/server-card'));
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'com.example/weather',
      version: '1.2.0',
      description: 'Forecasts for cities',
      remotes: [
        {
          type: 'streamable-http',
          url: publicUrl,
          supportedProtocolVersions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
        },
      ],
    });
    expect(Object.fromEntries(reply.headers)).toEqual({
      'content-type': 'application/mcp-server-card+json',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Content-Type, If-None-Match',
      'access-control-expose-headers': 'ETag',
      'cache-control': 'public, max-age=3600',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      'x-content-type-options': 'nosniff',
    });
  });

  test('names only the newest revision if sessions are off, and what the options add', async () => {
    const headers = [{ name: 'X-Api-Key', isRequired: true, isSecret: true }];
    const repository = { url: 'https://github.com/example/weather', source: 'github' };
    const more = serverCard({
      name: 'com.example/weather',
      title: 'Weather',
      description: 'Short',
      headers,
      repository,
      icons: [{ src: 'https://example.com/icon.png' }],
      websiteUrl: 'https://example.com/weather',
    });
    const reply = await handlerOf({ sessions: false, card: more })(get('/api/mcp/server-card'));
    expect(await reply.json()).toMatchObject({
      title: 'Weather',
      description: 'Short',
      repository,
      icons: [{ src: 'https://example.com/icon.png' }],
      websiteUrl: 'https://example.com/weather',
      remotes: [{ headers, supportedProtocolVersions: ['2026-07-28'] }],
    });
  });

  test('is in the catalog of the website, unless that is off', async () => {
    const reply = await handlerOf()(get('/.well-known/ai-catalog.json'));
    expect(reply.headers.get('content-type')).toBe('application/ai-catalog+json');
    expect(await reply.json()).toEqual({
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:example.com:mcp:weather',
          type: 'application/mcp-server-card+json',
          url: 'https://example.com/api/mcp/server-card',
        },
      ],
    });
    const off = handlerOf({ card: serverCard({ name: 'com.example/weather', catalog: false }) });
    expect((await off(get('/.well-known/ai-catalog.json'))).status).toBe(404);
  });

  test('is not sent again to clients that have it, and answers HEAD, preflights and wrong methods', async () => {
    const handler = handlerOf();
    const path = '/api/mcp/server-card';
    const etag = (await handler(get(path))).headers.get('etag') ?? '';
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await handler(get(path, { headers: { 'if-none-match': known } }));
      expect([reply.status, await reply.text(), reply.headers.get('etag')]).toEqual([304, '', etag]);
    }
    for (const other of ['"other"', `${etag}x`, `${'"a",'.repeat(2000)}${etag}`])
      expect((await handler(get(path, { headers: { 'if-none-match': other } }))).status).toBe(200);
    const head = await handler(get(path, { method: 'HEAD' }));
    expect([head.status, await head.text()]).toEqual([200, '']);
    const origin = { origin: 'https://any.example' };
    const preflight = await handler(get(path, { method: 'OPTIONS', headers: origin }));
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    const post = await handler(get(path, { method: 'POST', body: '{}' }));
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('is public on a protected server, whose other paths stay closed', async () => {
    const auth = bearer(async () => undefined);
    const handler = handlerOf({}, { auth });
    const reply = await handler(get('/api/mcp/server-card'));
    expect(reply.status).toBe(200);
    const text = await reply.text();
    for (const secret of ['launch_missiles', 'Only for staff']) expect(text).not.toContain(secret);
    for (const path of ['/api/mcp', '/api/mcp/server-cards', '/api/mcp/x/server-card', '/server-card']) {
      const other = await handler(get(path));
      expect(other.headers.get('content-type')).not.toContain('server-card');
      expect(other.status).toBeGreaterThanOrEqual(400);
    }
  });

  test('never repeats the host of a request', async () => {
    const reply = await handlerOf()(new Request('https://evil.example/api/mcp/server-card'));
    expect(await reply.text()).not.toContain('evil');
  });

  test('leads a client from a website to the server', async () => {
    const http = createHttpServer();
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const site = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const handler = createNodeHandler(createServer(definition), {
      publicUrl: `${site}/mcp`,
      path: '/mcp',
      card,
    });
    http.on('request', handler);
    try {
      const catalog = await (await fetch(`${site}/.well-known/ai-catalog.json`)).json();
      const found = await (await fetch(catalog.entries[0].url)).json();
      await using client = await connect(found.remotes[0].url);
      expect(client.server.info).toMatchObject({ name: 'weather', version: found.version });
    } finally {
      await handler.close();
      http.closeAllConnections();
      http.close();
    }
  });

  test('is not served by default, and is refused with the reason if something is missing or must not be public', async () => {
    expect((await handlerOf({ card: undefined })(get('/api/mcp/server-card'))).status).toBe(404);
    const without = { publicUrl: undefined } as object as HandlerOptions;
    expect(() => handlerOf(without)).toThrow('"card" needs "publicUrl"');
    expect(() => handlerOf({ publicUrl: 'https://ada:secret@example.com/mcp' })).toThrow(
      'must not have a user',
    );
    expect(() => handlerOf({}, { description: 'x'.repeat(101) })).toThrow('1 to 100 characters');
    for (const plain of [{}, { name: 'com.example/weather' }])
      expect(() => handlerOf({ card: plain as ServerCard })).toThrow(
        /^"card" must be a server card\. Make one with serverCard of fullmcp\/server-card: /,
      );
    const wrong = {
      name: 'weather',
      title: '',
      headers: [{ name: 'X-Api-Key', value: 'secret' }],
      maxAgeMs: -1,
      tools: true,
    };
    for (const part of ['"name"', '"title"', 'never their values', '"maxAgeMs"', '"tools"'])
      expect(() => serverCard(wrong as object as ServerCardOptions)).toThrow(part);
  });
});
