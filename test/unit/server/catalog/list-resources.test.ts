import { createServer, DefinitionError, inProcess, McpError, resource, ToolError } from 'fullmcp';
import { everyWire } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';

const base = { name: 'test', version: '1.0.0', logger: () => undefined };
const read = (): string => 'x';

function listing(list: unknown, log: () => void = () => undefined) {
  return createServer({
    ...base,
    logger: log,
    resources: { 'a://{id}': resource({ list: list as () => [], mimeType: 'text/plain', read }) },
  });
}

interface Page {
  readonly uris: readonly string[];
  readonly nextCursor: string | undefined;
}

async function page(server: ReturnType<typeof listing>, cursor?: string): Promise<Page> {
  const { resources, nextCursor } = await inProcess(server)(
    'resources/list',
    cursor === undefined ? {} : { cursor },
  );
  return {
    uris: (resources as { uri: string }[]).map(({ uri }) => uri),
    nextCursor: nextCursor as string | undefined,
  };
}

describe('a template that lists its resources', () => {
  it('adds them after the resources with a definition, with its MIME type unless they have another', async () => {
    const server = createServer({
      ...base,
      resources: {
        'a://{id}': resource({
          mimeType: 'text/plain',
          list: async () => [
            'a://1',
            { uri: 'a://2', name: 'Two', title: 'The second', mimeType: 'text/html', size: 5 },
          ],
          read,
        }),
        'b://only': resource({ name: 'Only', read }),
        'c://{id}': resource({ read }),
      },
    });
    expect(await inProcess(server)('resources/list')).toMatchObject({
      resources: [
        { uri: 'b://only', name: 'Only' },
        { uri: 'a://1', name: 'a://1', mimeType: 'text/plain' },
        { uri: 'a://2', name: 'Two', title: 'The second', mimeType: 'text/html', size: 5 },
      ],
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect((await inProcess(server)('resources/templates/list'))['resourceTemplates']).toHaveLength(2);
  });

  it('lists them anew for each caller', async () => {
    const server = createServer({
      ...base,
      user: ({ auth }) => auth?.subject ?? 'nobody',
      resources: { 'a://{user}/{id}': resource({ list: (ctx) => [`a://${String(ctx.user)}/1`], read }) },
    });
    for (const subject of ['ada', 'bob', 'ada']) {
      const call = inProcess(server, { caller: { subject, scopes: [], claims: {} } });
      expect(await call('resources/list')).toMatchObject({ resources: [{ uri: `a://${subject}/1` }] });
    }
  });

  it('lists them for clients of every revision, over every wire', async () => {
    await everyWire(
      listing(() => ['a://1', 'a://2']),
      async (client) => {
        expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(['a://1', 'a://2']);
      },
    );
  });

  it('does not list a resource twice that has its own definition or that the template repeats', async () => {
    const server = createServer({
      ...base,
      resources: {
        'a://1': resource({ name: 'Mine', read }),
        'a://{id}': resource({ list: () => ['a://1', 'a://2', 'a://2'], read }),
      },
    });
    expect((await page(server)).uris).toEqual(['a://1', 'a://2']);
  });
});

describe('the pages of listed resources', () => {
  const paged = (items: string[]) =>
    createServer({
      ...base,
      pageSize: 2,
      resources: { 'own://1': resource({ read }), 'a://{id}': resource({ list: () => items, read }) },
    });

  it('follow each other to the end', async () => {
    const server = paged(['a://1', 'a://2', 'a://3', 'a://4']);
    const first = await page(server);
    const second = await page(server, first.nextCursor);
    const third = await page(server, second.nextCursor);
    expect([first.uris, second.uris, third.uris]).toEqual([
      ['own://1', 'a://1'],
      ['a://2', 'a://3'],
      ['a://4'],
    ]);
    expect(third.nextCursor).toBeUndefined();
  });

  it('skip and repeat nothing if entries come and go before them', async () => {
    const items = ['a://1', 'a://2', 'a://3'];
    const server = paged(items);
    const { nextCursor } = await page(server);
    items.unshift('a://0');
    expect((await page(server, nextCursor)).uris).toEqual(['a://2', 'a://3']);
    items.splice(0, 2);
    expect((await page(server, nextCursor)).uris).toEqual(['a://3']);
  });

  it('end if everything is gone', async () => {
    const items = ['a://1', 'a://2', 'a://3'];
    const server = paged(items);
    const { nextCursor } = await page(server);
    items.length = 0;
    expect(await page(server, nextCursor)).toEqual({ uris: [], nextCursor: undefined });
  });

  it.each(['', '!', 'AAAA', 'bm8', 7, null, {}])('reject the cursor %o', async (cursor) => {
    await expect(page(paged(['a://1']), cursor as string)).rejects.toMatchObject({ code: 'invalid_params' });
  });
});

describe('the list of a template', () => {
  it.each<[string, unknown, string]>([
    [
      'is neither an array nor an iterable',
      { uri: 'a://1' },
      'must return an array or an iterable of URIs or of { uri, name, … }, or a page { entries, next }',
    ],
    ['has an entry without a URI', [{ name: 'x' }], 'returned an entry without a string "uri", at [0]'],
    [
      'has a URI that the template does not match',
      ['b://1'],
      'returned the URI "b://1", which the template does not match',
    ],
    [
      'has an entry with an unknown key',
      [{ uri: 'a://1', mime: 'x' }],
      'returned an entry with the unknown key "mime". Did you mean "mimeType"?',
    ],
  ])('that %s is a mistake, which is logged and masked for the client', async (_, value, sentence) => {
    const log = vi.fn();
    await expect(page(listing(() => value, log))).rejects.toThrow(/^Internal error \(ref /);
    expect(log.mock.calls[0]?.[2]).toMatchObject({
      message: `"list" of the resource "a://{id}" ${sentence}`,
    });
  });

  it('that throws shows its error to the client only if the error is meant for the client', async () => {
    const failing = (error: Error) => page(listing(() => Promise.reject(error)));
    await expect(failing(new ToolError('The disk is away.'))).rejects.toThrow('The disk is away.');
    await expect(failing(new McpError('invalid_request', 'Log in first.'))).rejects.toThrow('Log in first.');
    await expect(failing(new Error('10.0.0.7'))).rejects.toThrow(/^Internal error/);
  });

  it('is rejected for a resource that is not a template', () => {
    expect(() =>
      createServer({ ...base, resources: { 'a://b': resource({ list: () => [], read }) } }),
    ).toThrow(DefinitionError);
  });

  it('cannot ask the client', async () => {
    const log = vi.fn();
    const ask = (ctx: { ask: (key: string, question: object) => Promise<unknown> }) =>
      ctx.ask('k', { message: 'Sure?', schema: { type: 'object', properties: { ok: { type: 'boolean' } } } });
    const call = inProcess(listing(ask, log), { capabilities: { elicitation: {} } });
    await expect(call('resources/list')).rejects.toThrow(/^Internal error/);
    expect(log.mock.calls[0]?.[2]).toMatchObject({
      message: expect.stringContaining('Only tools, prompts and resources'),
    });
  });
});
