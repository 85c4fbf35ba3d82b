import { describe, expect, test } from 'vitest';
import { check } from '../../../../inspector/form/check.js';
import { fieldKind } from '../../../../inspector/form/field-kind.js';
import { initialArguments } from '../../../../inspector/form/initial-value.js';
import { commandLine } from '../../../../inspector/places/tools/copy/command-line.js';
import { fromQuery } from '../../../../inspector/places/tools/from-query.js';
import { readArguments } from '../../../../src/cli/arguments/read-arguments.js';
import { exampleOf, expectedOf, fieldsOf, readField } from '../../../../src/cli/asking/form-fields.js';
import { programCommands } from '../../../../src/cli/commands/share/generate/cli-data.js';
import { docsFile } from '../../../../src/cli/commands/share/generate/docs-file.js';
import { schemaType } from '../../../../src/cli/commands/share/generate/schema-type.js';
import { parameters } from '../../../../src/cli/terminal/signature.js';
import { vendorSchema } from '../../../../src/client/tools/vendor-schema.js';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { leavesOf } from '../../../../src/schema/read/across-branches.js';
import { shapeOf } from '../../../../src/schema/read/shape.js';
import type { Manifest } from '../../../../src/tooling/manifest/manifest.js';
import { compareSchemas } from '../../../../src/tooling/manifest/schema-change.js';
import { $defs, cases, definitions } from './cases.js';

const connection = { typed: 'demo' } as ConnectionView;

function manifestOf(inputSchema: JsonObject): Manifest {
  const tools = [{ name: 'try', inputSchema }];
  const server = { name: 'demo', version: '1.0.0' };
  return { server, revision: '2026-07-28', tools, prompts: [], resources: [], templates: [] } as never;
}

/** The input schema of a tool with one argument. */
function inputOf(value: unknown): JsonObject {
  return { type: 'object', properties: { value }, required: ['value'], $defs, definitions };
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Everything that all readers say about the input schema of a tool. */
function readByAll(input: JsonObject, text: string) {
  const [command] = programCommands(manifestOf(input));
  const args = readArguments([`value=${text}`], input);
  const fields = fieldsOf(input);
  return {
    list: parameters(input),
    types: onOneLine(schemaType(input)),
    options: command?.options.map(({ flag, type, multiple }) => `${flag} ${type}${multiple ? '[]' : ''}`),
    docs: docsFile(manifestOf(input)),
    forms: fields.map(expectedOf),
    typed: fields.map((field) => readField(field, exampleOf(field))),
    fields: fieldKind(shapeOf({ $ref: '#/properties/value' }, input), input),
    begins: initialArguments(input),
    wrong: [...check(input, args)],
    args,
    line: commandLine(connection, 'try', { args, schema: input }),
    query: fromQuery(new URLSearchParams({ value: text, 'value.a': '1' }), input),
    vendor: vendorSchema(input),
    changes: compareSchemas(input, input, 'input'),
  };
}

describe.each(cases)(
  'the readers of JSON Schema agree',
  ({ about, schema, list, types, option, form, field, reads: [text, value] }) => {
    const input = inputOf(schema);
    const isAny = types === 'unknown';

    test(`${about} is printed by the list of tools with its type`, () => {
      expect(parameters(input)).toBe(`value: ${list}`);
    });

    test(`${about} is a type of TypeScript with the same facts`, () => {
      const type = onOneLine(schemaType(input)).replace(/^\{ (?:\/\*\* [^*]* \*\/ )?value: /, '');
      expect(type).toBe(`${types}; }`);
    });

    test(`${about} is an option of a generated program, and a row of a generated reference`, () => {
      const [command] = programCommands(manifestOf(input));
      const [first] = command?.options ?? [];
      expect(`${first?.type}${first?.multiple ? '[]' : ''}`).toBe(option);
      expect(first?.required).toBe(true);
      const type = list.replace(/ = .*/, '').replaceAll('|', '\\|');
      expect(docsFile(manifestOf(input))).toContain(`| \`value\` | \`${type}\` | yes |`);
    });

    test(`${about} is read from a word of the command line, and is not called wrong in a form`, () => {
      const args = readArguments([`value=${text}`], input);
      expect(args).toEqual({ value });
      expect([...check(input, args)]).toEqual([]);
      const [, line = ''] = commandLine(connection, 'try', { args, schema: input }).split('try ');
      expect(readArguments([line.replaceAll("'", '')], input)).toEqual({ value });
    });

    test(`${about} is a field with the same facts in a terminal and in the inspector`, () => {
      const [asked] = fieldsOf(input);
      expect(asked && expectedOf(asked).replace(/, default.*|, required$/, '')).toBe(form);
      expect(fieldKind(shapeOf(schema, input), input)).toBe(field);
    });

    test(`${about} is given to models as it is, and does not differ from itself`, () => {
      expect(vendorSchema(input)).toMatchObject({
        type: 'object',
        properties: { value: schema },
        required: ['value'],
      });
      expect(compareSchemas(input, structuredClone(input), 'input')).toEqual([]);
      const other = inputOf({ type: types === 'boolean' ? 'string' : 'boolean' });
      if (!isAny)
        expect(compareSchemas(input, other, 'input').some(({ isBreaking }) => isBreaking)).toBe(true);
    });
  },
);

test('a schema that is written with references does not differ from the same schema without them', () => {
  const item = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
  const spellings: readonly JsonObject[] = [
    { ...inputOf(item), $defs: {} },
    { ...inputOf({ $ref: '#/$defs/Item' }), $defs: { Item: item } },
    { ...inputOf({ allOf: [{ $ref: '#/$defs/Item' }] }), $defs: { Item: item } },
    {
      ...inputOf({ $ref: '#/$defs/Item' }),
      $defs: { Item: { ...item, properties: { sku: { $ref: '#/$defs/Sku' } } }, Sku: { type: 'string' } },
    },
    { $ref: '#/$defs/Input', $defs: { Input: inputOf(item) } },
    { allOf: [{ properties: { value: item } }, { required: ['value'] }], type: 'object' },
  ];
  for (const one of spellings) {
    for (const other of spellings) expect(compareSchemas(one, other, 'input')).toEqual([]);
    expect(parameters(one)).toBe('value: { sku: string }');
    expect(onOneLine(schemaType(one))).toBe('{ value: { sku: string; }; }');
    expect(Object.keys(vendorSchema(one).properties)).toEqual(['value']);
    expect(vendorSchema(one)['required']).toEqual(['value']);
  }
});

test('a change in a definition that allOf refers to is a change of the argument', () => {
  const before = { ...inputOf({ allOf: [{ $ref: '#/$defs/Size' }] }), $defs: { Size: { enum: ['s', 'm'] } } };
  const after = { ...before, $defs: { Size: { enum: ['s'] } } };
  expect(compareSchemas(before, after, 'input')).toMatchObject([{ path: 'value', isBreaking: true }]);
});

test('the arguments of a tool whose input is one of several objects are those of all of them', () => {
  const input = { oneOf: [{ $ref: '#/$defs/Card' }, { $ref: '#/$defs/Cash' }], $defs };
  expect(parameters(input)).toBe('kind: "card" | "cash", last4?: string');
  expect(programCommands(manifestOf(input))[0]?.options).toMatchObject([
    { flag: 'kind', type: 'string', required: true },
    { flag: 'last4', type: 'string', required: false },
  ]);
  expect(readArguments(['kind=card', 'last4=1234'], input)).toEqual({ kind: 'card', last4: '1234' });
  expect(vendorSchema(input)['required']).toEqual(['kind']);
});

test('a field inside of a model, an optional model, a list or a union is read by its own schema', () => {
  const input = {
    type: 'object',
    properties: {
      item: { $ref: '#/$defs/Item' },
      maybe: { anyOf: [{ $ref: '#/$defs/Item' }, { type: 'null' }] },
      items: { type: 'array', items: { $ref: '#/$defs/Item' } },
      payment: { oneOf: [{ $ref: '#/$defs/Card' }, { $ref: '#/$defs/Cash' }] },
      pair: { type: 'array', prefixItems: [{ type: 'number' }, { $ref: '#/$defs/Code' }] },
    },
    $defs,
  };
  const words = ['item.sku=1', 'maybe.sku=2', 'items[0].sku=3', 'payment.last4=4', 'pair[0]=5', 'pair[1]=6'];
  expect(readArguments(words, input)).toEqual({
    item: { sku: '1' },
    maybe: { sku: '2' },
    items: [{ sku: '3' }],
    payment: { last4: '4' },
    pair: [5, '6'],
  });
});

const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
const everywhere = Object.fromEntries(
  names.map((name) => [name, { anyOf: names.map((other) => ({ $ref: `#/$defs/${other}` })) }]),
);
const branching = (combine: (next: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`d${at}`, combine({ $ref: `#/$defs/d${at + 1}` })]),
  );
function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < depth; level++) schema = wrap(schema);
  return schema;
}
const d0 = { $ref: '#/$defs/d0' };

test.each<[string, JsonObject]>([
  ['a root that is its own reference', { $ref: '#' }],
  [
    'two definitions that mean each other',
    { ...inputOf({ $ref: '#/$defs/a' }), $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  ],
  [
    'a union of itself',
    { ...inputOf({ $ref: '#/$defs/a' }), $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } },
  ],
  [
    'an array of itself',
    { ...inputOf({ $ref: '#/$defs/a' }), $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } } },
  ],
  [
    'a tuple of itself',
    {
      ...inputOf({ $ref: '#/$defs/a' }),
      $defs: { a: { prefixItems: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
    },
  ],
  [
    'allOf of itself',
    {
      ...inputOf({ $ref: '#/$defs/a' }),
      $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { properties: { x: { $ref: '#/$defs/a' } } }] } },
    },
  ],
  [
    'a map of itself',
    {
      ...inputOf({ $ref: '#/$defs/a' }),
      $defs: { a: { type: 'object', additionalProperties: { $ref: '#/$defs/a' } } },
    },
  ],
  [
    'twenty definitions that each contain all twenty',
    {
      ...inputOf({ $ref: '#/$defs/f0' }),
      $defs: Object.fromEntries(names.map((name) => [name, { type: 'object', properties: everywhere }])),
    },
  ],
  [
    'definitions that double by allOf',
    { ...inputOf(d0), $defs: branching((next) => ({ allOf: [next, next] })) },
  ],
  [
    'definitions that double by anyOf',
    { ...inputOf(d0), $defs: branching((next) => ({ anyOf: [next, next] })) },
  ],
  [
    'definitions that double by anyOf beside a type',
    {
      ...inputOf(d0),
      $defs: branching((next) => ({
        type: 'object',
        properties: { x: next },
        anyOf: [next, { required: ['x'] }, next],
      })),
    },
  ],
  [
    'definitions that double by properties inside of allOf',
    {
      ...inputOf(d0),
      $defs: branching((next) => ({
        type: 'object',
        properties: { x: { allOf: [next] }, y: { allOf: [next] } },
      })),
    },
  ],
  [
    'a thousand properties',
    inputOf({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, { type: 'string' }])),
    }),
  ],
  ['three thousand choices', inputOf({ enum: Array.from({ length: 3000 }, (_, at) => at) })],
  [
    'three thousand branches',
    inputOf({
      anyOf: Array.from({ length: 3000 }, (_, at) => ({ type: 'object', properties: { [`p${at}`]: {} } })),
    }),
  ],
  [
    'a hundred objects inside of each other',
    inputOf(nested(100, (x) => ({ type: 'object', properties: { x }, required: ['x'] }))),
  ],
  ['a hundred unions inside of each other', inputOf(nested(100, (x) => ({ anyOf: [x, { type: 'null' }] })))],
  ['a hundred allOf inside of each other', inputOf(nested(100, (x) => ({ allOf: [x] })))],
  ['a hundred arrays inside of each other', inputOf(nested(100, (items) => ({ type: 'array', items })))],
  [
    'keywords with wrong values',
    inputOf({
      type: 5,
      properties: [],
      required: 'x',
      items: 3,
      enum: 'a',
      anyOf: {},
      allOf: 'b',
      $ref: 7,
      oneOf: null,
    }),
  ],
  [
    'wrong values inside of allOf',
    inputOf({
      allOf: [null, 3, { allOf: 5 }, { properties: 5 }, { properties: { a: 1 } }, { type: [] }, false],
    }),
  ],
  ['wrong values inside of anyOf', inputOf({ anyOf: [null, 3, 'x', [], { anyOf: [] }, { enum: [] }] })],
  ['false', inputOf(false)],
  ['an empty enum', inputOf({ enum: [] })],
  ['an empty union', inputOf({ anyOf: [] })],
  ['properties that are not an object', { type: 'object', properties: 'no', required: [3] }],
  ['an array as the root', [] as never],
])('no reader throws or hangs for %s', (_, input) => {
  for (const text of ['a,b', '{"x":{}}', '[[[]]]', 'null', ''])
    expect(check(input, readArguments([`value=${text}`], input)).size).toBeLessThan(100);
  const { list, types, docs } = readByAll(input, '5');
  expect(list.length).toBeLessThan(20_000);
  expect(docs.length).toBeLessThan(100_000);
  expect(types.length).toBeLessThan(2_000_000);
});

test('a short schema that refers to an object with many fields a thousand times is not read as a million fields', () => {
  const fields = Array.from({ length: 5000 }, (_, at) => [`field${at}`, { type: 'string' }]);
  const input: JsonObject = {
    type: 'object',
    anyOf: Array.from({ length: 1000 }, () => ({ $ref: '#/$defs/Wide' })),
    $defs: { Wide: { type: 'object', properties: Object.fromEntries(fields) } },
  };
  const [one, other] = [1, 2].map(
    () => shapeOf({ $ref: '#/$defs/Wide' }, input) as { readonly fields?: unknown },
  );
  expect(one?.fields).toBe(other?.fields);
  expect(leavesOf(input, input).length).toBeLessThan(10);
  expect(parameters(input)).toMatch(/^field0\?: string, field1\?: string, .*, …$/);
  expect(readArguments(['field4999=5'], input)).toEqual({ field4999: '5' });
});

test('arguments in an address are read also for a tool whose input schema is true', () => {
  expect(fromQuery(new URLSearchParams('a=1&b.c=x'), true as never)).toEqual({ a: 1, b: { c: 'x' } });
  expect(shapeOf({ type: 'string' }, true as never).kind).toBe('string');
});

test('names of properties of every object are names like all others', () => {
  const input = JSON.parse(`{
    "type": "object",
    "properties": { "__proto__": { "$ref": "#/$defs/__proto__" }, "constructor": { "$ref": "#/$defs/toString" } },
    "required": ["__proto__"],
    "$defs": { "__proto__": { "type": "string" } }
  }`) as JsonObject;
  expect(parameters(input)).toBe('__proto__: string, constructor?: any');
  expect(onOneLine(schemaType(input))).toBe('{ __proto__: string; constructor?: unknown; }');
  const args = readArguments(['__proto__=5'], input);
  expect(Object.entries(args)).toEqual([['__proto__', '5']]);
  expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  expect(Object.keys(vendorSchema(input).properties)).toEqual(['__proto__', 'constructor']);
  expect(vendorSchema(input)['required']).toEqual(['__proto__']);
  expect(fieldsOf(input).map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
  const joined = JSON.parse(
    '{ "allOf": [{ "properties": { "__proto__": { "type": "string" } } }, { "properties": { "__proto__": { "minLength": 1 } } }] }',
  ) as JsonObject;
  expect(parameters(joined)).toBe('__proto__?: string');
});
