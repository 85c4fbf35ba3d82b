import { fromOpenAPI, OpenAPIError } from 'fullmcp/openapi';
import { expect, test } from 'vitest';
import { documentOf } from './support/served.js';

const baseUrl = 'https://api.example.com';
const get = { operationId: 'list', responses: {} };

test('a document can be an object, JSON or YAML', async () => {
  const document = documentOf({ '/a': { get } });
  const yaml =
    'openapi: 3.1.0\ninfo: { title: Test, version: "1" }\npaths:\n  /a:\n    get:\n      operationId: list\n      responses: { 200: { description: ok } }\n';
  for (const form of [document, JSON.stringify(document), yaml]) {
    const { tools, name, version } = await fromOpenAPI(form, { baseUrl });
    expect([Object.keys(tools), name, version]).toEqual([['list'], 'test', '1']);
  }
});

test.each([
  [{ swagger: '1.2' }, /Swagger 2.0/],
  [{ openapi: '4.0.0' }, /supported are OpenAPI 3.0, 3.1 and 3.2/],
  [{}, /supported are OpenAPI 3.0, 3.1 and 3.2/],
  ['{"openapi":', /not valid JSON/],
  ['a: [', /not valid YAML/],
  ['just text', /must be an object/],
  [7, /must be an object/],
  [documentOf({ 'a/b': { get } }), /must begin with/],
  [documentOf({ '/a/../admin': { get } }), /segment "\." or "\.\."/],
  [documentOf({ '/a/%2e%2E/admin': { get } }), /segment "\." or "\.\."/],
  [documentOf({ '/a': { get: { parameters: [{ in: 'nowhere', name: 'x' }] } } }), /"in" must be one of/],
  [documentOf({ '/a': { $ref: 'other.yaml#/a' } }), /another document/],
])('the document %j is refused with a clear error', async (document, message) => {
  const loading = fromOpenAPI(document, { baseUrl });
  await expect(loading).rejects.toThrow(message);
  await expect(loading).rejects.toBeInstanceOf(OpenAPIError);
});

test('an alias bomb in YAML is refused', async () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let n = 1; n < 12; n++)
    lines.push(`a${n}: &a${n} [${Array.from({ length: 10 }, () => `*a${n - 1}`).join(', ')}]`);
  await expect(fromOpenAPI(`openapi: 3.1.0\n${lines.join('\n')}\n`, { baseUrl })).rejects.toThrow(
    /not valid YAML.*alias/i,
  );
});

test('a document of 50 MB and one with 100,000 operations are refused before any work', {
  timeout: 120_000,
}, async () => {
  await expect(fromOpenAPI(`{"openapi":"${'x'.repeat(50_000_000)}"}`, { baseUrl })).rejects.toThrow(
    /maxDocumentChars/,
  );
  const paths = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, n) => [`/p${n}`, { get: { responses: {} } }]),
  );
  await expect(fromOpenAPI(documentOf(paths), { baseUrl })).rejects.toThrow(
    /More than 5000 operations.*maxOperations/,
  );
  const few = await fromOpenAPI(documentOf(paths), {
    baseUrl,
    rules: [{ path: '/p12*', as: 'tool' }, { as: 'nothing' }],
  });
  expect(Object.keys(few.tools)).toHaveLength(1111);
});

test.each([
  ['http://api.example.com', /not requested because the document says so/],
  ['https://127.0.0.1/v1', /not requested because the document says so/],
  ['https://169.254.169.254', /not requested because the document says so/],
  ['https://localhost', /not requested because the document says so/],
  ['file:///etc', /not requested because the document says so/],
  ['/v1', /does not say where/],
  [undefined, /does not say where/],
])('the server %s of a document is not trusted without baseUrl', async (url, message) => {
  const servers = url === undefined ? undefined : [{ url }];
  await expect(fromOpenAPI(documentOf({ '/a': { get } }, { servers }))).rejects.toThrow(message);
});

test('variables of servers have defaults, values and an enum', async () => {
  const servers = [
    {
      url: 'https://{region}.example.com/{v}',
      variables: { region: { default: 'eu', enum: ['eu', 'us'] }, v: { default: 'v1' } },
    },
  ];
  const urls: string[] = [];
  const fetch = async (url: string | URL): Promise<Response> => {
    urls.push(String(url));
    return new Response('{}');
  };
  const call = async (variables?: Record<string, string>): Promise<void> => {
    const { tools } = await fromOpenAPI(documentOf({ '/a': { get } }, { servers }), {
      fetch,
      ...(variables && { variables }),
    });
    await tools['list']?.run?.({} as never, { signal: new AbortController().signal } as never);
  };
  await call();
  await call({ region: 'us' });
  expect(urls).toEqual(['https://eu.example.com/v1/a', 'https://us.example.com/v1/a']);
  await expect(call({ region: 'evil.com/' })).rejects.toThrow(/must be one of eu, us/);
});

test('names are unique, at most 64 characters, and the same in every order of the document', async () => {
  const long = 'x'.repeat(100);
  const paths = {
    '/a': {
      get: { operationId: 'list.items' },
      post: { operationId: 'list items' },
      put: { operationId: long },
    },
    '/b': { get: { operationId: 'list_items' }, post: {}, put: { operationId: `${long}y` } },
    '/b/{id}': { get: {}, delete: { operationId: 'größe' }, put: { operationId: 'list_items' } },
    '/__proto__': { get: { operationId: '__proto__' } },
  };
  const names = async (document: object): Promise<readonly unknown[]> =>
    Object.entries((await fromOpenAPI(document, { baseUrl, toolName: () => undefined })).tools)
      .map(([name, { options }]) => [name, options.title])
      .sort();
  const titled = Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, one]) => [method, { ...one, summary: `${method} ${path}` }]),
      ),
    ]),
  );
  const reversed = Object.fromEntries(
    Object.entries(titled)
      .reverse()
      .map(([path, item]) => [path, Object.fromEntries(Object.entries(item).reverse())]),
  );
  const first = await names(documentOf(titled));
  expect(await names(documentOf(reversed))).toEqual(first);
  const all = first.map((entry) => (entry as [string])[0]);
  expect(new Set(all).size).toBe(10);
  for (const name of all) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(all).toContain('get_b_id');
});

test('an own tool with the name of an operation is reported', async () => {
  const own = { kind: 'tool', options: {}, run: () => 'mine' } as const;
  await expect(fromOpenAPI(documentOf({ '/a': { get } }), { baseUrl, tools: { list: own } })).rejects.toThrow(
    /both named "list"/,
  );
  const { tools } = await fromOpenAPI(documentOf({ '/a': { get } }), { baseUrl, tools: { mine: own } });
  expect(Object.keys(tools).sort()).toEqual(['list', 'mine']);
});

test('wrong options are reported with a hint', async () => {
  const document = documentOf({ '/a': { get } });
  await expect(fromOpenAPI(document, { routeMaps: [] } as object)).rejects.toThrow(/Did you mean "rules"/);
  await expect(fromOpenAPI(document, { rules: [{ method: 'GET' } as object] })).rejects.toThrow(
    /Did you mean "methods"/,
  );
  await expect(fromOpenAPI(document, { baseUrl, credentials: { key: 'x' } })).rejects.toThrow(
    /no such security scheme/,
  );
  await expect(fromOpenAPI(document, { baseUrl: 'ftp://x' })).rejects.toThrow(/"baseUrl" must be/);
});
