import { fromOpenAPI } from 'fullmcp/openapi';
import { describe, expect, test } from 'vitest';
import { clientOf, textOf } from './support/served.js';
import { startUpstream } from './support/upstream.js';

const info = { title: 'Test', version: '1' };
const pet = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', 'x-nullable': true },
    mother: { $ref: '#/definitions/Pet' },
  },
};
const ok = { 200: { description: 'ok' } };

describe('a document of Swagger 2.0', () => {
  const document = {
    swagger: '2.0',
    info,
    host: 'api.example.com',
    basePath: '/v2',
    schemes: ['http', 'https'],
    consumes: ['application/json'],
    produces: ['application/json'],
    definitions: { Pet: pet },
    parameters: {
      limit: { name: 'limit', in: 'query', type: 'integer', minimum: 0, exclusiveMinimum: true },
    },
    responses: { Pet: { description: 'a pet', schema: { $ref: '#/definitions/Pet' } } },
    securityDefinitions: {
      user: { type: 'basic' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      login: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://example.com', scopes: {} },
    },
    paths: {
      '/pets/{id}': {
        parameters: [
          { name: 'id', in: 'path', required: true, type: 'integer' },
          { name: 'note', in: 'query', type: 'string' },
        ],
        get: {
          operationId: 'getPet',
          summary: 'Get a pet',
          parameters: [{ name: 'note', in: 'query', type: 'boolean' }],
          responses: { 200: { $ref: '#/responses/Pet' } },
          security: [{ user: [] }],
        },
        put: {
          operationId: 'putPet',
          parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
          responses: { 204: { description: 'done' } },
          security: [{ key: [] }],
        },
      },
      '/pets': {
        get: {
          operationId: 'listPets',
          parameters: [
            { $ref: '#/parameters/limit' },
            ...['csv', 'ssv', 'tsv', 'pipes', 'multi'].map((collectionFormat) => ({
              ...{ name: collectionFormat, in: 'query', collectionFormat },
              ...{ type: 'array', items: { type: 'string' } },
            })),
          ],
          responses: ok,
          security: [{ login: [] }],
        },
        post: {
          operationId: 'addPhoto',
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'photo', in: 'formData', type: 'file', required: true },
            { name: 'tags', in: 'formData', type: 'array', items: { type: 'string' } },
          ],
          produces: ['image/png', 'application/json'],
          responses: { 200: { description: 'ok', schema: { type: 'file' } } },
        },
      },
      '/form': {
        post: {
          operationId: 'form',
          parameters: [
            { name: 'a', in: 'formData', type: 'string', description: 'The first.' },
            { name: 'b', in: 'formData', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
          ],
          responses: ok,
        },
      },
    },
  };
  const credentials = { user: { username: 'ada', password: 'pw' }, key: 'k', login: 't' };

  test('becomes tools with the arguments, schemas and credentials that it describes', async () => {
    await using upstream = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":7,"name":null}');
    });
    await using client = await clientOf(document, { baseUrl: upstream.baseUrl, credentials });
    const tools = Object.fromEntries((await client.tools().all()).map((tool) => [tool.name, tool]));
    expect(Object.keys(tools).sort()).toEqual(['addPhoto', 'form', 'getPet', 'listPets', 'putPet']);
    expect(tools['getPet']).toMatchObject({
      title: 'Get a pet',
      inputSchema: {
        properties: { id: { type: 'integer' }, note: { type: 'boolean' } },
        required: ['id'],
      },
    });
    expect(tools['getPet']?.outputSchema).toMatchObject({
      properties: { name: { type: ['string', 'null'] }, mother: { $ref: '#/$defs/Pet' } },
    });
    expect(tools['putPet']?.inputSchema).toMatchObject({ required: ['id', 'body_id'] });
    expect(tools['listPets']?.inputSchema).toMatchObject({
      properties: { limit: { type: 'integer', exclusiveMinimum: 0 } },
    });
    expect(tools['form']?.inputSchema).toMatchObject({ properties: { a: { description: 'The first.' } } });
    expect(tools['addPhoto']?.outputSchema).toBeUndefined();

    expect((await client.callTool('getPet', { id: 7, note: true })).data).toEqual({ id: 7, name: null });
    await client.callTool('putPet', { id: 7, body_id: 8, name: 'Rex' });
    const list = ['x', 'y'];
    await client.callTool('listPets', { csv: list, ssv: list, tsv: list, pipes: list, multi: list });
    await client.callTool('form', { a: '1', b: list });
    await client.callTool('addPhoto', { photo: { data: 'AQID', filename: 'a.png' }, tags: list });
    const [got, put, listed, form, photo] = upstream.received;
    expect(got).toMatchObject({
      url: '/pets/7?note=true',
      headers: { authorization: `Basic ${btoa('ada:pw')}` },
    });
    expect(put).toMatchObject({ method: 'PUT', body: '{"id":8,"name":"Rex"}', headers: { 'x-key': 'k' } });
    expect(listed?.url.split('?')[1]?.split('&').sort()).toEqual([
      'csv=x,y',
      'multi=x',
      'multi=y',
      'pipes=x%7Cy',
      'ssv=x%20y',
      'tsv=x%09y',
    ]);
    expect(listed?.headers.authorization).toBe('Bearer t');
    expect(form?.body).toBe('a=1&b=x,y');
    expect(photo?.headers['content-type']).toMatch(/^multipart\/form-data/);
    expect(photo?.body).toContain('filename="a.png"');
  });

  test('has its server in host, basePath and schemes', async () => {
    const urls: string[] = [];
    const fetch = async (url: URL): Promise<Response> => {
      urls.push(String(url));
      return new Response('{"id":1}', { headers: { 'content-type': 'application/json' } });
    };
    await using client = await clientOf(document, { baseUrl: undefined, credentials, fetch: fetch as never });
    await client.callTool('getPet', { id: 1 });
    expect(urls).toEqual(['https://api.example.com/v2/pets/1']);
    const { host: _, ...without } = document;
    await expect(fromOpenAPI(without, { credentials })).rejects.toThrow(/its server is "\/v2"/);
    await expect(fromOpenAPI({ ...document, schemes: ['http'] }, { credentials })).rejects.toThrow(
      /only public addresses and https/,
    );
  });

  test('can be YAML, in which the version may be a number', async () => {
    const yaml = 'swagger: 2.0\ninfo: { title: T, version: "1" }\npaths: { /a: { get: { operationId: a } } }';
    const { tools } = await fromOpenAPI(yaml, { baseUrl: 'https://api.example.com' });
    expect(Object.keys(tools)).toEqual(['a']);
  });

  test.each([
    [{ ...document, paths: 7 }, /"paths" must be an object/],
    [{ ...document, paths: { '/a': { get: 7 } } }, /GET \/a must be an object, not 7\./],
    [
      { ...document, paths: { '/a': { get: { parameters: [{ $ref: '#/parameters/none' }] } } } },
      /"#\/parameters\/none" at a parameter of GET \/a has no target/,
    ],
  ])('with a mistake is refused with its place (%#)', async (wrong, message) => {
    await expect(fromOpenAPI(wrong, { credentials })).rejects.toThrow(message);
  });
});

describe('a document of OpenAPI 3.2', () => {
  const of = (paths: object, more: object = {}): object => ({ openapi: '3.2.0', info, paths, ...more });

  test('has the method QUERY and additional operations, which are sent as they are written', async () => {
    const sent: unknown[] = [];
    const fetch = async (
      _url: URL,
      init: { readonly method: string; readonly body?: unknown },
    ): Promise<Response> => {
      sent.push([init.method, init.body]);
      return new Response('done');
    };
    const search = { content: { 'application/json': { schema: { type: 'object', properties: { q: {} } } } } };
    const document = of({
      '/a': {
        query: { operationId: 'search', requestBody: search, responses: ok },
        additionalOperations: {
          COPY: { operationId: 'copy', responses: ok },
          'M-Search': { operationId: 'msearch', responses: ok },
        },
      },
    });
    await using client = await clientOf(document, { fetch: fetch as never });
    const tools = await client.tools().all();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['copy', false],
      ['msearch', false],
      ['search', true],
    ]);
    await client.callTool('search', { q: 'x' });
    await client.callTool('copy');
    await client.callTool('msearch');
    expect(sent).toEqual([
      ['QUERY', '{"q":"x"}'],
      ['COPY', undefined],
      ['M-Search', undefined],
    ]);
  });

  test.each(['CONNECT', 'A B', 'X\r\nHost: evil', ''])(
    'with an additional operation that is not a method is refused (%j)',
    async (method) => {
      await expect(fromOpenAPI(of({ '/a': { additionalOperations: { [method]: {} } } }))).rejects.toThrow(
        /additional operation that is not a method/,
      );
    },
  );

  test('with a usual method among the additional operations is refused', async () => {
    await expect(fromOpenAPI(of({ '/a': { additionalOperations: { POST: {} } } }))).rejects.toThrow(
      /Put it beside them, as "post"/,
    );
  });

  test('has parameters that are the whole query, and cookies as they are', async () => {
    await using upstream = await startUpstream();
    const whole = (operationId: string, mediaType: string): object => ({
      get: {
        operationId,
        parameters: [
          { name: 'filter', in: 'querystring', content: { [mediaType]: { schema: { type: 'object' } } } },
          { name: 'c', in: 'cookie', style: 'cookie', schema: { type: 'string' } },
        ],
        responses: ok,
      },
    });
    const document = of({
      '/form': whole('form', 'application/x-www-form-urlencoded'),
      '/json': whole('json', 'application/json'),
    });
    await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
    await client.callTool('form', { filter: { a: 'x y', b: [1, 2] }, c: 'a/b=c' });
    await client.callTool('json', { filter: { a: '&' } });
    expect(upstream.received.map(({ url, headers }) => [url, headers.cookie])).toEqual([
      ['/form?a=x%20y&b=1&b=2', 'c=a/b=c'],
      ['/json?%7B%22a%22%3A%22%26%22%7D', undefined],
    ]);
    expect(await textOf(client, 'form', { c: 'a; admin=1' })).toMatch(/cannot be sent in a cookie/);
  });

  test('has an address of its own, to which references and servers may be relative', async () => {
    const urls: string[] = [];
    const fetch = async (url: URL): Promise<Response> => {
      urls.push(String(url));
      return new Response('done');
    };
    const $ref = 'https://api.example.com/openapi.json#/components/schemas/Id';
    const parameters = [
      { name: 'a', in: 'query', schema: { $ref } },
      { name: 'b', in: 'query', schema: { $ref: 'openapi.json#/components/schemas/Id' } },
    ];
    const document = of(
      { '/a': { get: { operationId: 'a', parameters, responses: ok } } },
      {
        $self: 'https://api.example.com/openapi.json',
        servers: [{ url: '/v3' }],
        components: { schemas: { Id: { type: 'integer' } } },
      },
    );
    await using client = await clientOf(document, { baseUrl: undefined, fetch: fetch as never });
    await client.callTool('a', { a: 1, b: 2 });
    expect(urls).toEqual(['https://api.example.com/v3/a?a=1&b=2']);
    const other = JSON.parse(JSON.stringify(document).replaceAll('openapi.json#', 'other.json#'));
    await expect(fromOpenAPI(other)).rejects.toThrow(/is to another document/);
  });

  test('has streams: sequences of JSON values are sent line by line, and replies to read are text', async () => {
    await using upstream = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' }).end('{"a":1}\n{"a":2}\n');
    });
    const itemSchema = { type: 'object', properties: { a: { type: 'integer' } } };
    const lines = (mediaType: string): object => ({ [mediaType]: { itemSchema } });
    const operation = (operationId: string, mediaType: string): object => ({
      operationId,
      requestBody: { required: true, content: lines(mediaType) },
      responses: { 200: { content: lines('application/jsonl') } },
    });
    const document = of({
      '/a': { post: operation('jsonl', 'application/jsonl') },
      '/b': { post: operation('seq', 'application/json-seq') },
    });
    await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
    const [tool] = await client.tools().all();
    expect(tool?.inputSchema).toMatchObject({ properties: { body: { type: 'array', items: itemSchema } } });
    expect(tool?.outputSchema).toBeUndefined();
    expect(await textOf(client, 'jsonl', { body: [{ a: 1 }, { a: 2 }] })).toBe('{"a":1}\n{"a":2}\n');
    await client.callTool('seq', { body: [{ a: 1 }] });
    expect(upstream.received.map(({ body }) => body)).toEqual(['{"a":1}\n{"a":2}\n', '\u001e{"a":1}\n']);
  });

  test('names security schemes and media types by reference', async () => {
    await using upstream = await startUpstream();
    const document = of(
      {
        '/a': {
          post: {
            operationId: 'a',
            requestBody: { content: { 'application/json': { $ref: '#/components/mediaTypes/Pet' } } },
            security: [{ '#/components/securitySchemes/token': [] }],
          },
        },
      },
      {
        components: {
          securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
          mediaTypes: { Pet: { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
        },
      },
    );
    await using client = await clientOf(document, { baseUrl: upstream.baseUrl, credentials: { token: 't' } });
    await client.callTool('a', { name: 'Rex' });
    expect(upstream.received).toMatchObject([
      { body: '{"name":"Rex"}', headers: { authorization: 'Bearer t' } },
    ]);
  });
});

test('an empty array in place of an object is an empty object, as PHP prints it', async () => {
  const responses = { 204: [], 200: { description: 'ok', content: { 'application/json': [] } } };
  const document = { openapi: '3.2.0', info, paths: { '/a': { get: { operationId: 'a', responses } } } };
  const { tools } = await fromOpenAPI(document, { baseUrl: 'https://api.example.com' });
  expect(Object.keys(tools)).toEqual(['a']);
});

test.each([
  [
    { openapi: '4.0.0' },
    `The document's "openapi" is "4.0.0"; supported are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0.`,
  ],
  [
    { swagger: '1.2' },
    `The document's "swagger" is "1.2"; supported are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0.`,
  ],
  [{}, `The document's "openapi" is missing; supported are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0.`],
])('a document of another version is refused with its version (%#)', async (document, message) => {
  await expect(fromOpenAPI(document)).rejects.toThrow(message);
});
