import { createServer } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';
import { expect, test } from 'vitest';
import { clientOf, documentOf } from './support/served.js';

const baseUrl = 'https://api.example.com';

function post(schema: object, components: object = {}, openapi = '3.0.3'): object {
  const operation = {
    operationId: 'op',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'object', properties: { v: schema } } } },
    },
    responses: { 200: { description: '', content: { 'application/json': { schema } } } },
  };
  return { ...documentOf({ '/': { post: operation } }), openapi, components: { schemas: components } };
}

async function converted(schema: object, components?: object, openapi?: string) {
  const client = await clientOf(post(schema, components, openapi));
  const [tool] = await client.tools().all();
  await client.close();
  const input = tool?.inputSchema as { properties: { v: unknown }; $defs?: Record<string, unknown> };
  return { input: input.properties.v, defs: input.$defs, output: tool?.outputSchema };
}

test.each([
  [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
  [
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    { type: 'integer', exclusiveMinimum: 1 },
  ],
  [
    { type: 'integer', maximum: 9, exclusiveMaximum: false },
    { type: 'integer', maximum: 9 },
  ],
  [
    { type: 'string', example: 'x', xml: {}, 'x-y': 1 },
    { type: 'string', examples: ['x'] },
  ],
  [
    { type: 'array', items: [{ type: 'string' }] },
    { type: 'array', prefixItems: [{ type: 'string' }] },
  ],
  [{ type: 'string', pattern: '(a+)+$' }, { type: 'string' }],
  [{ type: 'string', pattern: '[' }, { type: 'string' }],
  [{ type: 'file', maximum: '3', required: true, enum: [] }, {}],
])('the schema %j becomes JSON Schema 2020-12', async (schema, expected) => {
  expect((await converted(schema)).input).toEqual(expected);
});

test('references become $defs, with recursion, encoded names and a nullable reference', async () => {
  const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } };
  const { input, defs } = await converted(
    {
      type: 'object',
      properties: {
        a: { $ref: '#/components/schemas/Node' },
        b: { $ref: '#/components/schemas/a%20b~1c', nullable: true },
      },
    },
    { Node: node, 'a b/c': { type: 'string' } },
  );
  const names = Object.keys(defs ?? {});
  expect(defs?.['Node']).toEqual({ type: 'object', properties: { next: { $ref: '#/$defs/Node' } } });
  const other = names.find((name) => name !== 'Node');
  expect(other).toMatch(/^[A-Za-z0-9_.-]+$/);
  expect(input).toEqual({
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/Node' },
      b: { anyOf: [{ $ref: `#/$defs/${other}` }, { type: 'null' }] },
    },
  });
});

test('readOnly properties are not in the input and writeOnly ones not in the output', async () => {
  const schema = {
    type: 'object',
    required: ['id', 'name', 'password'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', readOnly: true },
      name: { type: 'string' },
      password: { $ref: '#/components/schemas/Secret' },
    },
  };
  const { input, output } = await converted(schema, { Secret: { type: 'string', writeOnly: true } });
  expect(input).toMatchObject({ required: ['name', 'password'], additionalProperties: false });
  expect(Object.keys((input as { properties: object }).properties)).toEqual(['name', 'password']);
  // An API may add fields to its replies.
  expect(output).toEqual({
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'string' }, name: { type: 'string' } },
  });
});

test('a discriminator tells branches apart by the values of its mapping', async () => {
  const pet = { type: 'object', properties: { kind: { type: 'string' } } };
  const { input } = await converted(
    {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: 'Dog' } },
    },
    { Cat: pet, Dog: pet },
  );
  expect(input).toEqual({
    anyOf: [
      { $ref: '#/$defs/Cat', properties: { kind: { enum: ['cat'] } }, required: ['kind'] },
      { $ref: '#/$defs/Dog', properties: { kind: { enum: ['dog'] } }, required: ['kind'] },
    ],
  });
});

test('a schema that is too large is outlined below its first levels, and stays valid', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `S${n}`,
      {
        type: 'object',
        description: 'x'.repeat(300),
        properties: Object.fromEntries(
          Array.from({ length: 5 }, (_, m) => [
            `p${m}`,
            { $ref: `#/components/schemas/S${(n * 5 + m + 1) % 300}` },
          ]),
        ),
      },
    ]),
  );
  const api = await fromOpenAPI(post({ $ref: '#/components/schemas/S0' }, schemas), {
    baseUrl,
    maxSchemaChars: 5000,
  });
  const { inputSchema } = (
    await (
      await clientOf(post({ $ref: '#/components/schemas/S0' }, schemas), { maxSchemaChars: 5000 })
    )
      .tools()
      .all()
  )[0] as { inputSchema: object };
  expect(JSON.stringify(inputSchema).length).toBeLessThan(12_000);
  expect(() => createServer({ ...api })).not.toThrow();
});

test('a document whose references were replaced by their targets, in a circle, ends', async () => {
  const node: Record<string, unknown> = { type: 'object', properties: {} };
  Object.assign(node['properties'] as object, { left: node, right: node });
  const api = await fromOpenAPI(post(node), { baseUrl });
  expect(() => createServer({ ...api })).not.toThrow();
});

test.each([
  ['another.json#/A', /another document/],
  ['https://example.com/a.json', /another document/],
  ['file:///etc/passwd', /another document/],
  ['#/components/schemas/None', /has no target/],
])('the reference %s is refused with a clear error', async ($ref, message) => {
  await expect(fromOpenAPI(post({ $ref }), { baseUrl })).rejects.toThrow(message);
});

test('references in a circle of 10,000 are refused', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [
      `S${n}`,
      { $ref: `#/components/schemas/S${(n + 1) % 10_000}` },
    ]),
  );
  await expect(fromOpenAPI(post({ $ref: '#/components/schemas/S0' }, schemas), { baseUrl })).rejects.toThrow(
    /more than 100 others/,
  );
});

test('a cycle of 10,000 schemas through their properties is served, shortened', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [
      `S${n}`,
      { type: 'object', properties: { next: { $ref: `#/components/schemas/S${(n + 1) % 10_000}` } } },
    ]),
  );
  const api = await fromOpenAPI(post({ $ref: '#/components/schemas/S0' }, schemas), { baseUrl });
  expect(() => createServer({ ...api })).not.toThrow();
});

test('properties named __proto__ and constructor are properties like others', async () => {
  const text = `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/__proto__":{"post":{"operationId":"__proto__","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"object","properties":{"__proto__":{"type":"integer"}}}}}}}},"responses":{}}}}}`;
  const client = await clientOf(text);
  const [tool] = await client.tools().all();
  expect(tool?.name).toBe('unnamed');
  expect(Object.keys(tool?.inputSchema['properties'] as object).sort()).toEqual(['constructor', 'unnamed']);
  expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  await client.close();
});
