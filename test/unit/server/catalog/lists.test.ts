import { createServer, inProcess, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };
const many = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`tool${n}`, tool({ run: () => n })]));

async function walk(call: ReturnType<typeof inProcess>): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const page = await call('tools/list', cursor === undefined ? {} : { cursor });
    pages.push((page['tools'] as { name: string }[]).map(({ name }) => name));
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return pages;
}

describe('lists', () => {
  it('come in pages, in the order of definition', async () => {
    const call = inProcess(createServer({ ...quiet, tools: many, pageSize: 3 }));
    expect(await walk(call)).toEqual([['tool0', 'tool1', 'tool2'], ['tool3', 'tool4', 'tool5'], ['tool6']]);
    expect(await walk(call)).toEqual(await walk(call));
  });

  it.each([1, 7, 8])('have no empty last page (page size %i)', async (pageSize) => {
    const pages = await walk(inProcess(createServer({ ...quiet, tools: many, pageSize })));
    expect(pages.flat()).toHaveLength(7);
    expect(pages.every((page) => page.length > 0)).toBe(true);
  });

  it('keep a cursor valid when a tool is added', async () => {
    const server = createServer({ ...quiet, tools: many, pageSize: 3 });
    const call = inProcess(server);
    const { nextCursor } = await call('tools/list');
    server.tool('late', {}, () => 'late');
    const page = await call('tools/list', { cursor: nextCursor });
    expect((page['tools'] as object[]).length).toBe(3);
    expect(page['nextCursor']).toBeDefined();
  });

  it.each([['unknown'], ['!!'], [''], [7]])('reject the cursor %j', async (cursor) => {
    const call = inProcess(createServer({ ...quiet, tools: many }));
    await expect(call('tools/list', { cursor })).rejects.toMatchObject({ code: 'invalid_params' });
  });

  it('carry cache hints and the server’s name', async () => {
    const call = inProcess(createServer({ ...quiet, tools: many, listTtlMs: 5 }));
    expect(await call('tools/list')).toMatchObject({
      resultType: 'complete',
      ttlMs: 5,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1.0.0' } },
    });
  });

  it('of a server without definitions are unknown methods', async () => {
    const call = inProcess(createServer({ ...quiet }));
    for (const method of [
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
      'nope',
    ]) {
      await expect(call(method)).rejects.toMatchObject({ code: 'method_not_found' });
    }
  });

  it('show definitions in full', async () => {
    const icons = [{ src: 'data:image/png;base64,AA==', theme: 'dark' as const }];
    const server = createServer({
      ...quiet,
      tools: {
        full: tool({
          title: 'Full',
          description: 'All of it',
          icons,
          tags: ['a', 'b'],
          meta: { 'com.example/x': 1 },
          annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
          input: { type: 'object', properties: { q: { type: 'string' } }, $comment: 'kept' },
          output: { type: 'object' },
          run: () => ({}),
        }),
      },
      resources: {
        'config://app': resource({
          name: 'config',
          mimeType: 'application/json',
          size: 3,
          annotations: { priority: 1 },
          read: () => 1,
        }),
        'users://{id}': resource({ title: 'User', read: ({ id }) => id }),
      },
      prompts: {
        review: prompt({
          description: 'Review code',
          args: z.object({ code: z.string().describe('The code'), style: z.string().optional() }),
          run: ({ code }) => code,
        }),
      },
    });
    const call = inProcess(server);
    expect((await call('tools/list'))['tools']).toEqual([
      {
        name: 'full',
        title: 'Full',
        description: 'All of it',
        icons,
        inputSchema: { type: 'object', properties: { q: { type: 'string' } }, $comment: 'kept' },
        outputSchema: { type: 'object' },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
        _meta: { 'com.example/x': 1, 'fullmcp/tags': ['a', 'b'] },
      },
    ]);
    expect((await call('resources/list'))['resources']).toEqual([
      {
        uri: 'config://app',
        name: 'config',
        mimeType: 'application/json',
        size: 3,
        annotations: { priority: 1 },
      },
    ]);
    expect((await call('resources/templates/list'))['resourceTemplates']).toEqual([
      { uriTemplate: 'users://{id}', name: 'users://{id}', title: 'User' },
    ]);
    expect((await call('prompts/list'))['prompts']).toEqual([
      {
        name: 'review',
        description: 'Review code',
        arguments: [
          { name: 'code', description: 'The code', required: true },
          { name: 'style', required: false },
        ],
      },
    ]);
  });
});

describe('server/discover', () => {
  it('reports existing features and nothing else', async () => {
    const call = inProcess(createServer({ ...quiet, instructions: 'Use it well', tools: many }));
    expect(await call('server/discover')).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, logging: {} },
      instructions: 'Use it well',
    });
    const { capabilities } = await call('server/discover');
    expect(Object.keys(capabilities as object).sort()).toEqual(['logging', 'tools']);
    expect(capabilities).not.toHaveProperty('tools.listChanged');
  });

  it('declares the changes that `changes` promises', async () => {
    const call = inProcess(
      createServer({
        ...quiet,
        changes: ['tools', 'resource'],
        resources: { 'a://b': resource({ read: () => 1 }) },
      }),
    );
    expect((await call('server/discover'))['capabilities']).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true },
      logging: {},
    });
  });

  it('declares the changes of tools after the first change', async () => {
    const server = createServer({ ...quiet, tools: many });
    const call = inProcess(server);
    await call('server/discover');
    server.tool('late', {}, () => 'late');
    expect((await call('server/discover'))['capabilities']).toMatchObject({ tools: { listChanged: true } });
  });

  it('shows icons and extensions', async () => {
    const icons = [{ src: 'https://example.com/icon.png' }];
    const call = inProcess(
      createServer({
        ...quiet,
        title: 'Test',
        icons,
        extensions: { 'com.example/x': { on: true } },
        experimental: { y: {} },
      }),
    );
    expect(await call('server/discover')).toMatchObject({
      capabilities: { extensions: { 'com.example/x': { on: true } }, experimental: { y: {} } },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', title: 'Test', icons } },
    });
  });
});
