import { fromOpenAPI } from 'fullmcp/openapi';
import { expect, test } from 'vitest';
import { clientOf, documentOf, textOf } from './support/served.js';
import { startUpstream } from './support/upstream.js';

const baseUrl = 'https://api.example.com';
const json = (schema: object): object => ({
  200: { description: '', content: { 'application/json': { schema } } },
});
const item = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

function replying(replies: Record<string, readonly [type: string, body: string | Buffer, status?: number]>) {
  return startUpstream((response, request) => {
    const [type, body, status = 200] = replies[(request.url ?? '').split('?')[0] ?? ''] ?? [
      'text/plain',
      'none',
      404,
    ];
    response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body);
  });
}

test('a reply becomes structured content, an image, a blob, text or nothing, by its media type', async () => {
  await using upstream = await replying({
    '/json': ['application/json', '{"id":1,"extra":true}'],
    '/list': ['application/vnd.api+json', '[1,2]'],
    '/content': ['application/json', '{"content":[{"type":"text","text":"x"}]}'],
    '/image': ['image/png', Buffer.from([1, 2, 3])],
    '/pdf': ['application/pdf', Buffer.from([4])],
    '/text': ['text/csv', 'a,b'],
    '/empty': ['', '', 204],
    '/bare': ['', 'plain'],
  });
  const paths = Object.fromEntries(
    ['content', 'image', 'pdf', 'text', 'empty', 'bare'].map((name) => [
      `/${name}`,
      { get: { operationId: name, responses: {} } },
    ]),
  );
  const document = documentOf({
    ...paths,
    '/json': { get: { operationId: 'json', responses: json(item) } },
    '/list': { get: { operationId: 'list', responses: json({ type: 'array', items: { type: 'integer' } }) } },
  });
  await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
  expect((await client.callTool('json')).data).toEqual({ id: 1, extra: true });
  expect((await client.callTool('list')).data).toEqual([1, 2]);
  expect((await client.callTool('content')).data).toEqual({ content: [{ type: 'text', text: 'x' }] });
  expect((await client.callTool('image')).content).toEqual([
    { type: 'image', data: 'AQID', mimeType: 'image/png' },
  ]);
  expect((await client.callTool('pdf')).content).toMatchObject([
    { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'BA==' } },
  ]);
  expect(await textOf(client, 'text')).toBe('a,b');
  expect(await textOf(client, 'bare')).toBe('plain');
  expect(await textOf(client, 'empty')).toBe('Done (status 204, no content).');
});

test('a reply that does not fit is an error that says so, or is passed on', async () => {
  await using upstream = await replying({ '/a': ['application/json', '{"id":"x"}'], '/b': ['', '', 204] });
  const document = documentOf({
    '/a': { get: { operationId: 'a', responses: json(item) } },
    '/b': { get: { operationId: 'b', responses: json(item) } },
  });
  await using strict = await clientOf(document, { baseUrl: upstream.baseUrl });
  const wrong = await strict.callTool('a');
  expect(wrong.isError).toBe(true);
  expect(JSON.stringify(wrong.content)).toMatch(/succeeded, but its reply does not fit the schema.*id/);
  expect(await textOf(strict, 'b')).toMatch(/succeeded with status 204 and has no content.*Do not repeat it/);
  await using lenient = await clientOf(document, { baseUrl: upstream.baseUrl, output: 'pass' });
  expect((await lenient.callTool('a')).data).toEqual({ id: 'x' });
  expect((await lenient.tools().all()).every(({ outputSchema }) => outputSchema === undefined)).toBe(true);
});

test.each([204, 205, 304])(
  'a reply with status %s has no body and is a success, even if the document describes JSON for it',
  async (status) => {
    await using upstream = await startUpstream((response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end();
    });
    const documented = { [status]: { description: '', content: { 'application/json': { schema: item } } } };
    const document = documentOf({
      '/a': {
        delete: { operationId: 'documented', responses: documented },
        post: {
          operationId: 'both',
          parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
          responses: { ...json(item), ...documented },
        },
        put: { operationId: 'undocumented', responses: json({ type: 'object' }) },
        head: { operationId: 'head', responses: json(item) },
      },
    });
    await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
    await client.tools().all();
    for (const name of ['documented', 'both', 'undocumented', 'head']) {
      const { isError, text } = await client.callTool(name);
      expect({ name, isError, text }).toEqual({
        name,
        isError: false,
        text: status === 304 ? 'Not modified (status 304).' : `Done (status ${status}, no content).`,
      });
    }
    expect((await client.callTool('undocumented')).data).toEqual({});
    expect(upstream.received.map(({ method }) => method)).toContain('DELETE');
  },
);

test('a reply without a body is not read, even if a fetch of your own gives it one', async () => {
  const fetch = async (url: URL | string, init?: { readonly method?: string }): Promise<Response> => {
    const body = new Response('not JSON', { headers: { 'content-type': 'application/json' } });
    if (init?.method === 'HEAD') return body;
    return Object.defineProperty(body, 'status', { value: Number(String(url).slice(-3)) });
  };
  const document = documentOf({
    '/204': { delete: { operationId: 'gone', responses: {} } },
    '/head': { head: { operationId: 'head', responses: {} } },
  });
  await using client = await clientOf(document, { fetch: fetch as never });
  expect(await textOf(client, 'gone')).toBe('Done (status 204, no content).');
  expect(await textOf(client, 'head')).toBe('Done (status 200, no content).');
});

test('an operation with several successful replies has an output schema only if all of them are JSON', async () => {
  const created = {
    description: '',
    content: { 'application/json': { schema: { type: 'object', properties: { b: {} } } } },
  };
  const document = documentOf({
    '/a': {
      get: { operationId: 'two', responses: { ...json(item), 201: created } },
      post: { operationId: 'empty', responses: { ...json(item), 204: { description: '' } } },
    },
  });
  await using client = await clientOf(document);
  const schemas = Object.fromEntries(
    (await client.tools().all()).map(({ name, outputSchema }) => [name, outputSchema]),
  );
  expect(schemas['two']).toEqual({
    anyOf: [expect.objectContaining({ required: ['id'] }), { type: 'object', properties: { b: {} } }],
  });
  expect(schemas['empty']).toBeUndefined();
});

test('rules pick fields and cut long replies', async () => {
  await using upstream = await replying({
    '/a': [
      'application/json',
      JSON.stringify({ total: 2, items: [{ id: 1, junk: 'x' }, { id: 2 }], junk: 1 }),
    ],
    '/b': ['text/plain', 'y'.repeat(100)],
  });
  const document = documentOf({
    '/a': { get: { operationId: 'a', responses: json({ type: 'object' }) } },
    '/b': { get: { operationId: 'b', responses: {} } },
  });
  await using client = await clientOf(document, {
    baseUrl: upstream.baseUrl,
    rules: [
      { path: '/a', pick: ['total', 'items.id'] },
      { path: '/b', maxChars: 10 },
    ],
  });
  expect((await client.callTool('a')).data).toEqual({ total: 2, items: [{ id: 1 }, { id: 2 }] });
  expect(await textOf(client, 'b')).toBe('yyyyyyyyyy\n[Cut: 10 of 100 characters.]');
});

const shop = documentOf({
  '/users': {
    get: {
      operationId: 'listUsers',
      tags: ['users'],
      summary: 'Lists users',
      parameters: [
        { in: 'query', name: 'q', schema: { type: 'string' } },
        { in: 'query', name: 'tag', schema: { type: 'array', items: { type: 'string' } } },
      ],
      responses: {},
    },
    post: { operationId: 'addUser', tags: ['users'], responses: {} },
  },
  '/users/{user-id}': {
    parameters: [{ in: 'path', name: 'user-id', required: true, schema: { type: 'string' } }],
    get: { operationId: 'getUser', responses: {} },
    put: { operationId: 'putUser', deprecated: true, description: 'Replaces.', responses: {} },
    delete: { operationId: 'deleteUser', responses: {} },
  },
  '/admin/keys': { get: { operationId: 'keys', tags: ['admin'], responses: {} } },
  '/health': { get: { operationId: 'health', responses: {} } },
});

test('rules make an operation a tool, a resource, a template or nothing', async () => {
  const api = await fromOpenAPI(shop, {
    baseUrl,
    rules: [
      { tags: ['admin'], as: 'nothing' },
      { deprecated: true, as: 'nothing' },
      { operationId: 'list*', as: 'tool' },
      { when: ({ path }) => path === '/health', as: 'resource' },
      { methods: ['GET'], path: '/users/*', as: 'resource' },
    ],
  });
  expect(Object.keys(api.tools).sort()).toEqual(['addUser', 'deleteUser', 'listUsers']);
  expect(Object.keys(api.resources).sort()).toEqual(['api://test/health', 'api://test/users/{user_id}']);
  await expect(
    fromOpenAPI(shop, { baseUrl, rules: [{ methods: ['POST'], as: 'resource' }] }),
  ).rejects.toThrow(/only a GET/);
});

test('a template reads the operation with the values of its URI', async () => {
  await using upstream = await replying({
    '/users/a%20b': ['application/json', '{"id":1}'],
    '/users': ['text/plain', 'list'],
  });
  await using client = await clientOf(shop, {
    baseUrl: upstream.baseUrl,
    rules: [{ methods: ['GET'], as: 'resource' }],
  });
  expect((await client.templates().all()).map(({ uriTemplate }) => uriTemplate).sort()).toEqual([
    'api://test/users/{user_id}',
    'api://test/users{?q,tag*}',
  ]);
  const { contents } = await client.readResource('api://test/users/a%20b');
  expect(contents).toEqual([
    { uri: 'api://test/users/a%20b', mimeType: 'application/json', text: '{"id":1}' },
  ]);
  await client.readResource('api://test/users?q=x%26y&tag=1&tag=2');
  expect(upstream.received.at(-1)?.url).toBe('/users?q=x%26y&tag=1&tag=2');
  await expect(client.readResource('api://test/users/none')).rejects.toMatchObject({
    code: expect.stringMatching(/not_found|invalid_params/),
  });
});

test('tools have titles, descriptions, tags and the hints of their method', async () => {
  await using client = await clientOf(shop, { maxDescriptionChars: 20 });
  const tools = Object.fromEntries((await client.tools().all()).map((tool) => [tool.name, tool]));
  expect(tools['listUsers']).toMatchObject({
    title: 'Lists users',
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    _meta: { 'fullmcp/tags': ['users'] },
  });
  expect(tools['deleteUser']?.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true,
  });
  expect(tools['putUser']?.description).toBe('Deprecated. Replace…');
  expect(tools['addUser']?.annotations).toEqual({ readOnlyHint: false, openWorldHint: true });
  const kept = await fromOpenAPI(shop, { baseUrl, deprecated: 'keep' });
  expect(kept.tools['putUser']?.options.description).toBe('Replaces.');
  expect((await fromOpenAPI(shop, { baseUrl, deprecated: 'drop' })).tools).not.toHaveProperty('putUser');
});

test('parameters of one name in several places, and fields of the body, get names of their own', async () => {
  await using upstream = await startUpstream();
  const parameter = (place: string): object => ({
    in: place,
    name: 'id',
    required: true,
    schema: { type: 'string' },
  });
  const body = {
    required: true,
    content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } },
  };
  const document = documentOf({
    '/{id}': {
      post: {
        operationId: 'op',
        parameters: [parameter('cookie'), parameter('header'), parameter('query'), parameter('path')],
        requestBody: body,
        responses: {},
      },
    },
  });
  await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
  await client.callTool('op', { id: 'p', query_id: 'q', header_id: 'h', cookie_id: 'c', body_id: 'b' });
  expect(upstream.received[0]).toMatchObject({
    url: '/p?id=q',
    headers: { id: 'h', cookie: 'id=c' },
    body: '{"id":"b"}',
  });
});
