import { createServer, resource, tool } from 'fullmcp';
import {
  type AppDefinition,
  app,
  appPage,
  apps,
  appsClient,
  readApp,
  type ShowAppOptions,
  showApp,
  showsApps,
  uiOf,
  withApp,
} from 'fullmcp/apps';
import { connect, type ListedTool } from 'fullmcp/client';
import { proxy } from 'fullmcp/proxy';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const html = appPage({ body: 'Hello' });
const page = app({
  uri: 'ui://sales/chart',
  html,
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com:8443'] },
  permissions: ['camera', 'clipboardWrite'],
  prefersBorder: true,
});
const server = createServer({
  name: 'sales',
  version: '1.0.0',
  tools: {
    sales: withApp(
      tool({
        meta: { 'example.com/team': 'sales' },
        input: z.object({ year: z.int() }),
        run: ({ year }, { client }) => `${year} ${showsApps(client) ? 'with' : 'without'} a chart`,
      }),
      page,
    ),
    refresh: withApp(tool({ run: () => 'fresh' }), page, { visibility: ['app'] }),
    summary: tool({ run: (_input, ctx) => ctx.call('refresh') }),
  },
  extensions: [apps(page)],
});
const asHost = { extensions: [appsClient] };
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;

describe('a server with apps', () => {
  test.each(revisions)(
    'names the app in both forms, and serves its page with its restrictions, in %s',
    async (revision) => {
      await using client = await testClient(server, { ...asHost, revision });
      const [sales, refresh] = await client.tools().all();
      expect(sales?._meta).toMatchObject({
        'example.com/team': 'sales',
        ui: { resourceUri: 'ui://sales/chart' },
        'ui/resourceUri': 'ui://sales/chart',
      });
      expect(refresh?._meta?.['ui']).toEqual({ resourceUri: 'ui://sales/chart', visibility: ['app'] });
      const { contents } = await client.readResource('ui://sales/chart');
      expect(contents).toEqual([
        {
          uri: 'ui://sales/chart',
          mimeType: 'text/html;profile=mcp-app',
          text: html,
          _meta: {
            ui: {
              csp: {
                connectDomains: ['https://api.example.com'],
                resourceDomains: ['https://*.example.com:8443'],
              },
              permissions: { camera: {}, clipboardWrite: {} },
              prefersBorder: true,
            },
          },
        },
      ]);
      expect((await client.callTool('refresh')).text).toBe('fresh');
      expect((await client.callTool('sales', { year: 2026 })).text).toBe('2026 with a chart');
      expect(client.server.capabilities.extensions).toHaveProperty(['io.modelcontextprotocol/ui']);
    },
  );

  test.each(revisions)(
    'hides the tools of apps from hosts that show none, and serves them text, in %s',
    async (revision) => {
      await using client = await testClient(server, { revision });
      expect((await client.tools().all()).map(({ name }) => name)).toEqual(['sales', 'summary']);
      await expect(client.callTool('refresh')).rejects.toThrow('Unknown tool: refresh');
      expect((await client.callTool('sales', { year: 2026 })).text).toBe('2026 without a chart');
      // Another tool of the server may use it.
      expect((await client.callTool('summary')).text).toContain('fresh');
    },
  );

  test('keeps its apps when it is mounted: their URIs, and the names of the tools that they call', async () => {
    const middle = createServer({ name: 'middle', version: '1.0.0', mount: { shop: server } });
    const outer = createServer({
      name: 'outer',
      version: '1.0.0',
      mount: { all: middle },
      extensions: [apps()],
    });
    await using client = await testClient(outer, asHost);
    const [sales] = await client.tools().all();
    const uri = 'ui://all+shop+sales/chart';
    expect(sales?.name).toBe('all_shop_sales');
    expect(sales?._meta).toMatchObject({
      'example.com/team': 'sales',
      ui: { resourceUri: uri },
      'ui/resourceUri': uri,
      'fullmcp/toolPrefix': 'all_shop_',
    });
    expect(await readApp(client, sales as NonNullable<typeof sales>)).toMatchObject({ uri, html });
    expect((await client.callTool('all_shop_refresh')).text).toBe('fresh');
    await using other = await testClient(outer);
    const names = (await other.tools().all()).map(({ name }) => name);
    expect(names).toEqual(['all_shop_sales', 'all_shop_summary']);
    await expect(other.callTool('all_shop_refresh')).rejects.toThrow('Unknown tool');
  });

  test('keeps its apps behind a proxy, for hosts with and without apps', async () => {
    const front = await proxy(server);
    await using host = await testClient(front, asHost);
    const [sales] = await host.tools().all();
    expect(await readApp(host, sales as NonNullable<typeof sales>)).toMatchObject({ html });
    expect((await host.callTool('refresh')).text).toBe('fresh');
    await using other = await testClient(front);
    expect((await other.tools().all()).map(({ name }) => name)).toEqual(['sales', 'summary']);
    await expect(other.callTool('refresh')).rejects.toThrow('Unknown tool: refresh');
  });

  test('keeps its apps among several servers, whose client cannot show them: an app could use the other servers', async () => {
    const other = createServer({
      name: 'other',
      version: '1.0.0',
      tools: { secret: tool({ run: () => 'plans' }) },
    });
    await using group = await connect(
      { mcpServers: { shop: { target: server }, other: { target: other } } },
      asHost,
    );
    const sales = (await group.tools().all()).find(({ name }) => name === 'shop_sales') as ListedTool;
    expect(sales._meta).toMatchObject({ ui: { resourceUri: page.uri }, 'fullmcp/toolPrefix': 'shop_' });
    const container = {} as HTMLElement;
    await expect(showApp(group, { tool: sales, container })).rejects.toThrow('the client of one server');
  });

  test('is not shown with options that nothing reads, or without a place', async () => {
    await using client = await testClient(server, asHost);
    const [sales] = await client.tools().all();
    const wrong = { tool: sales, teardown: 5, grant: 'camera' } as object as ShowAppOptions;
    await expect(showApp(client, wrong)).rejects.toThrow(
      [
        'showApp has no option "teardown". Did you mean "teardownMs"?',
        'showApp: "container" must be an object, not undefined.',
        'showApp: "grant" must be an array of strings, not a string.',
      ].join('\n'),
    );
  });

  test('does not show apps to a host that declares another media type', async () => {
    const other = { id: 'io.modelcontextprotocol/ui', settings: { mimeTypes: ['text/uri-list'] } };
    await using client = await testClient(server, { extensions: [other] });
    expect((await client.callTool('sales', { year: 2026 })).text).toBe('2026 without a chart');
  });

  test('refuses a tool whose app it does not serve, and apps and pages with mistakes', () => {
    const tools = { sales: withApp(tool({ run: () => 1 }), page) };
    const other = app({ uri: 'ui://other', html });
    expect(() => createServer({ name: 'a', version: '1', tools, extensions: [apps(other)] })).toThrow(
      'The tool "sales" uses the app ui://sales/chart, which is not served.',
    );
    expect(() => apps(other, other)).toThrow('two apps have the same URI');
    const wrong = {
      uri: 'https://example.com',
      html: '<p>Hello',
      csp: { connectDomains: ["'unsafe-eval'", 'https://a.example; script-src *'], imgDomains: [] },
      permissions: ['usb'],
      sandbox: true,
    };
    const message = (() => {
      try {
        app(wrong as object as AppDefinition);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    })();
    for (const part of [
      '"uri"',
      '<!doctype html>',
      'unsafe-eval',
      'script-src *',
      '"csp.imgDomains"',
      '"usb"',
      '"sandbox"',
    ])
      expect(message).toContain(part);
    expect(() => withApp(tool({ run: () => 1 }), page, { visibility: [] })).toThrow('"visibility"');
    expect(() => appPage({ script: 'const a = "</SCRIPT>"' })).toThrow('</SCRIPT');
    expect(() => appPage({ style: 'a { content: "</style" }' })).toThrow('</style');
    expect(() => appPage({ data: undefined, script: '// <!-- ' })).toThrow('<!--');
  });

  test('escapes the title and the data of a page', () => {
    const evil = '</title></script><img src=x onerror=alert(1)>"\u2028';
    const made = appPage({ title: evil, lang: '"><script>', data: { evil } });
    expect(made).not.toContain('<img');
    expect(made.match(/<script/g)).toHaveLength(3);
    const json = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(made)?.[1] ?? '';
    expect(JSON.parse(json)).toEqual({ evil });
  });

  test('makes a page for each caller, which is not shared between callers', async () => {
    const own = app({ uri: 'ui://own', html: (ctx) => appPage({ title: ctx.auth?.subject ?? 'nobody' }) });
    const served = createServer({ name: 'own', version: '1.0.0', extensions: [apps(own)] });
    await using client = await testClient(served, { caller: { subject: 'ada' } });
    const outcome = await client.request('resources/read', { uri: 'ui://own' });
    expect(outcome).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    expect(JSON.stringify(outcome)).toContain('<title>ada</title>');
  });
});

describe('a host', () => {
  test('reads the app of a tool in both forms of the metadata, and nothing else', () => {
    const both = ['model', 'app'];
    expect(uiOf({ _meta: { ui: { resourceUri: 'ui://a/b' } } })).toEqual({
      uri: 'ui://a/b',
      visibility: both,
    });
    expect(uiOf({ _meta: { 'ui/resourceUri': 'ui://a' } })).toEqual({ uri: 'ui://a', visibility: both });
    expect(uiOf({ _meta: { ui: { resourceUri: 'https://a' } } })).toEqual({
      uri: undefined,
      visibility: both,
    });
    expect(uiOf({ _meta: { ui: { visibility: ['app', 'root'] } } })).toEqual({
      uri: undefined,
      visibility: ['app'],
    });
    expect(uiOf({ _meta: { ui: { visibility: 'app' } } }).visibility).toEqual(['model']);
    expect(uiOf({})).toEqual({ uri: undefined, visibility: both });
  });

  test('leaves out everything in the restrictions that would widen its policy, and refuses other contents', async () => {
    const contents = (more: object) =>
      resource({ read: (_values, { uri }) => ({ uri, text: html, ...more }) });
    const mimeType = 'text/html; profile=MCP-app';
    const origins = [
      '*',
      "'self'",
      'https:',
      'https://a.example/path',
      'https://a.example;x',
      'data:',
      7,
      'https://a..b',
      'wss://b.example:1',
    ];
    const lying = createServer({
      name: 'lying',
      version: '1.0.0',
      resources: {
        'ui://wide': contents({
          mimeType,
          _meta: {
            ui: {
              csp: { connectDomains: origins, scriptDomains: ['*'] },
              permissions: { camera: {}, usb: {} },
              domain: 7,
            },
          },
        }),
        'ui://other-type': contents({ mimeType: 'text/html' }),
        'ui://other-uri': contents({ mimeType, uri: 'ui://wide' }),
      },
    });
    await using client = await testClient(lying);
    const read = (uri: string) =>
      readApp(client, { name: 'a', inputSchema: {}, _meta: { ui: { resourceUri: uri } } });
    expect(await read('ui://wide')).toEqual({
      uri: 'ui://wide',
      html,
      csp: { connectDomains: ['wss://b.example:1'] },
      permissions: ['camera'],
      prefersBorder: undefined,
      domain: undefined,
    });
    await expect(read('ui://other-type')).rejects.toThrow('it does not have the media type of an app');
    await expect(read('ui://other-uri')).rejects.toThrow('the server sent another resource');
    expect(await readApp(client, { name: 'a', inputSchema: {} })).toBe(undefined);
  });
});
