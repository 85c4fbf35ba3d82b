import { Validator } from '@seriousme/openapi-schema-validator';
import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { fromOpenAPI } from 'fullmcp/openapi';
import { rest, toOpenAPI } from 'fullmcp/rest';
import { expect, test } from 'vitest';
import { restServer } from '../support/rest-server.js';

async function validate(document: object): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
  return valid ? 'valid' : errors;
}

/** The definitions that are made from the document of a server, and that call its REST API. */
async function roundTrip(server: ReturnType<typeof restServer>) {
  const api = rest(server);
  const definitions = await fromOpenAPI(await toOpenAPI(server), {
    baseUrl: 'http://localhost',
    async fetch(url, { method = 'GET', headers, body } = {}) {
      return api(new Request(url, { method, headers: headers as HeadersInit, body: body ?? null }));
    },
  });
  return createServer({ ...definitions, logger: () => undefined });
}

test('the document is valid OpenAPI 3.1', async () => {
  expect(await validate(await toOpenAPI(restServer(), { url: 'https://api.example.com' }))).toBe('valid');
  const served = await rest(restServer())(new Request('http://localhost/api/openapi.json'));
  expect(await validate(await served.json())).toBe('valid');
});

test('a round trip through the document and the REST API keeps tools, schemas and results', async () => {
  const server = restServer();
  await using direct = await connect(server);
  await using remote = await connect(await roundTrip(server));
  const before = await direct.tools().all();
  const after = await remote.tools().all();
  const named = (name: string) => after.find((listed) => listed.name === name.replaceAll('.', '_'));
  for (const { name, title, description, inputSchema, outputSchema } of before) {
    const found = named(name);
    expect({ name, title, description }).toEqual({
      name,
      title: found?.title,
      description: found?.description,
    });
    // An object that may have any field is one argument, "body".
    if (name === 'echo') continue;
    expect([name, withoutDialect(found?.inputSchema)]).toEqual([
      name,
      withoutDialect({ properties: {}, ...inputSchema }),
    ]);
    // A later version of an API may add fields, so that outputs are never closed.
    expect([name, found?.outputSchema]).toEqual([name, withoutClosing(withoutDialect(outputSchema))]);
  }
  const calls: readonly [string, object][] = [
    ['add', { a: 1, b: 2 }],
    ['add', { a: 1 }],
    ['greet', { name: 'Ann' }],
    ['v1.list-all', { tree: { name: 'a', parts: [{ name: 'b' }] } }],
    ['picture', {}],
  ];
  for (const [name, args] of calls) {
    const one = await direct.callTool(name, args);
    const other = await remote.callTool(name.replaceAll('.', '_'), args);
    expect([name, other.isError, other.content, other.data]).toEqual([
      name,
      one.isError,
      one.content,
      one.data,
    ]);
  }
  // A value that is not an object needs an output schema to be more than text.
  expect(await remote.callTool('count')).toMatchObject({ text: '42', isError: false });
  expect((await remote.callTool('echo', { body: { a: [1, { b: null }] } })).data).toEqual({
    a: [1, { b: null }],
  });
  for (const name of ['fail', 'crash', 'ask']) expect((await remote.callTool(name)).isError).toBe(true);
  expect((await remote.callTool('fail')).text).toContain('Order 7 does not exist.');
});

/** The order of required fields does not matter, nor do the names of definitions and of the dialect. */
function withoutDialect(schema: unknown): unknown {
  const json = JSON.stringify(schema ?? null).replaceAll(/(__schema0)_[0-9a-f]{8}/g, '$1');
  return JSON.parse(json, (key, value) => {
    if (key === '$schema') return undefined;
    return key === 'required' && Array.isArray(value) ? [...value].sort() : value;
  });
}

function withoutClosing(schema: unknown): unknown {
  return schema === null
    ? undefined
    : JSON.parse(JSON.stringify(schema), (key, value) =>
        key === 'additionalProperties' && value === false ? undefined : value,
      );
}

test('the security schemes are those of the server, and a document without auth has none', async () => {
  const withAuth = (auth: ReturnType<typeof apiKey>) => toOpenAPI(restServer({ auth }));
  const keys = [{ hash: await hashApiKey('key_0123456789abcdef0123456789abcdef'), subject: 'ann' }];
  const required = await withAuth(apiKey({ keys }));
  expect(required).toMatchObject({
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });
  expect(await validate(required)).toBe('valid');
  expect(await withAuth(apiKey({ keys, optional: true }))).toMatchObject({ security: [{}, { bearer: [] }] });
  expect(await withAuth(apiKey({ keys, header: 'x-key' }))).not.toHaveProperty('security');
  expect(await toOpenAPI(restServer())).not.toHaveProperty('security');
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
  const own = await toOpenAPI(restServer({ auth: apiKey({ keys, header: 'x-key' }) }), { securitySchemes });
  expect(own).toMatchObject({ security: [{ key: [] }], components: { securitySchemes } });
});

test('tools with odd names have paths that lead to them, or none', async () => {
  const run = (): string => 'done';
  const names = ['a.b', '...', '..', '.', '-', '_', 'health', 'ready', 'tools', 'openapi.json'];
  const server = createServer({
    ...{ name: 'odd', version: '1', logger: () => undefined },
    tools: Object.fromEntries(names.map((name) => [name, tool({ run })])),
  });
  const document = await toOpenAPI(server);
  const paths = Object.keys(document['paths'] as object);
  expect(paths.sort()).toEqual(
    names
      .filter((name) => name !== '.' && name !== '..')
      .map((name) => `/tools/${name}`)
      .sort(),
  );
  expect(await validate(document)).toBe('valid');
  for (const path of paths) {
    const response = await rest(server)(new Request(`http://localhost/api${path}`, { method: 'POST' }));
    expect([path, await response.text()]).toEqual([path, 'done']);
  }
});

test('a tool that keeps outcomes has the header for the key in its document', async () => {
  const document = await toOpenAPI(restServer({ idempotency: true }));
  const { post } =
    (document['paths'] as Record<string, { post: { parameters: object[] } }>)['/tools/add'] ?? {};
  expect(post?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header' }]);
  expect(await validate(document)).toBe('valid');
});
