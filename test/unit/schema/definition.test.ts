import { Type } from '@sinclair/typebox';
import { type as ark } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { compileSchema } from '../../../src/schema/compile.js';
import { SchemaError } from '../../../src/schema/document/schema-error.js';
import { jsonSchema, type Schema, withJsonSchema } from '../../../src/schema/schema.js';

const input = (schema: unknown) => compileSchema(schema as Schema, { io: 'input' });
const toolInput = (schema: unknown) => compileSchema(schema as Schema, { io: 'input', requireObject: true });

/** The message that a definition fails with. */
function refusal(define: () => unknown): string {
  try {
    define();
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('a library without JSON Schema is named, with the remedy:', () => {
  it('it is zod 3', () => {
    const text = refusal(() => input(z3.object({ a: z3.number() })));
    expect(text).toContain('zod schema cannot convert itself to JSON Schema');
    expect(text).toContain('withJsonSchema(schema, zodToJsonSchema(schema))');
  });
  it('it is zod 4 before 4.2', () => {
    const old = { _zod: {}, '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) } };
    expect(refusal(() => input(old))).toContain('upgrade zod to 4.2 or later');
  });
  it('it is plain valibot', () => {
    expect(refusal(() => input(v.object({ a: v.number() })))).toContain(
      'toStandardJsonSchema(schema) from @valibot/to-json-schema',
    );
  });
  it('it is any other library', () => {
    const other = { '~standard': { version: 1, vendor: 'acme', validate: () => ({ value: 1 }) } };
    expect(refusal(() => input(other))).toMatch(/^The acme schema .* use withJsonSchema\(schema, json\)/);
  });
});

describe("a type without a JSON Schema is reported in the library's words:", () => {
  it('it is a date of zod', () => {
    expect(refusal(() => input(z.object({ at: z.date() })))).toMatch(
      /^The zod schema cannot be expressed as JSON Schema \(input\): the field "at": Date cannot be represented in JSON Schema\. Use types/,
    );
    const deep = z.object({
      a: z.string(),
      items: z.array(z.object({ due: z.date().optional() })).optional(),
    });
    expect(refusal(() => input(deep))).toContain('the field "items[].due": Date cannot');
    expect(refusal(() => input(z.object({ list: z.array(z.date()) })))).toContain('the field "list[]": Date');
  });
  it('it is a transform of zod in an output', () => {
    const schema = z.object({ n: z.string().transform(Number) });
    expect(refusal(() => compileSchema(schema, { io: 'output' }))).toContain(
      '(output): the field "n": Transforms cannot be',
    );
    expect(input(schema).json['properties']).toEqual({ n: { type: 'string' } });
  });
  it.each([
    ['Date', ark({ at: 'Date' }), 'Date'],
    ['bigint', ark({ n: 'bigint' }), 'bigint or symbol'],
    ['Map', ark({ m: 'Map' }), 'an instance of a class'],
  ])('it is %s of arktype', (_name, schema, what) => {
    expect(refusal(() => input(schema))).toContain(
      `The arktype schema cannot be expressed as JSON Schema (input): ${what} cannot be represented`,
    );
  });
  it('it is not a refinement of arktype, which stays the library’s own business', () => {
    const compiled = input(ark({ odd: ark('number').narrow((n) => n % 2 === 1) }));
    expect(compiled.validate({ odd: 1 })).toMatchObject({ ok: true });
    expect(compiled.validate({ odd: 2 })).toMatchObject({ ok: false });
  });
  it('it is a thrown value that is not an Error', () => {
    const fails = () => {
      throw 'nonsense';
    };
    const props = { version: 1, vendor: 'acme', validate: () => ({ value: 1 }) };
    const schema = { '~standard': { ...props, jsonSchema: { input: fails, output: fails } } };
    expect(refusal(() => input(schema))).toContain('(input): nonsense.');
  });
  it('it is not a library with draft-07 alone, which is asked for that', () => {
    const convert = ({ target }: { target: string }) => {
      if (target !== 'draft-07') throw new Error('unknown target');
      return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    };
    const props = { version: 1, vendor: 'acme', validate: () => ({ value: 1 }) };
    const schema = { '~standard': { ...props, jsonSchema: { input: convert, output: convert } } };
    expect(input(schema).json['$schema']).toContain('draft-07');
  });
});

describe('a value that is not a schema is rejected:', () => {
  it.each([
    ['an array', [], 'object, not an array'],
    ['null', null, 'object, not null'],
    ['undefined', undefined, 'object, not undefined'],
    ['a string', 'string', 'object, not a string'],
    ['a class instance', new Date(0), 'object, not an instance of Date'],
    ['a shape of schemas', { a: z.string() }, 'an object of schemas is not a schema'],
    [
      'a function inside',
      { type: 'object', properties: { a: { default: () => 1 } } },
      '#/properties/a/default: a function',
    ],
    ['NaN inside', { minimum: Number.NaN }, 'not JSON at #/minimum: NaN'],
    ['a Map inside', { properties: new Map() }, '#/properties: an instance of Map'],
  ])('it is %s', (_name, schema, words) => {
    expect(refusal(() => input(schema))).toContain(words);
  });
  it('it is an object of a nameless class', () => {
    expect(refusal(() => input({ const: Object.create(Object.create({ constructor: 5 })) }))).toContain(
      'a class',
    );
  });
  it('it is a circular object', () => {
    const tree: Record<string, unknown> = { type: 'object' };
    tree['properties'] = { child: tree };
    expect(refusal(() => input(tree))).toMatch(/contains itself at #\/properties\/child.*Use "\$ref"/);
  });
  it('it is an object nested without end in a default', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 300; i++) deep = [deep];
    expect(refusal(() => input({ default: deep }))).toContain('nested more than 256 levels deep');
  });
  it('it is an object that multiplies', () => {
    let wide: unknown = 1;
    for (let i = 0; i < 30; i++) wide = [wide, wide];
    expect(refusal(() => input({ default: wide }))).toContain('too large');
  });
});

describe('the dialect of a schema', () => {
  it.each([
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft-07/schema',
  ])('may be %s', ($schema) => {
    expect(input({ $schema, type: 'object' }).json).toEqual({ $schema, type: 'object' });
  });
  it.each(['http://json-schema.org/draft-04/schema#', 'json-schema.org/draft-07/schema', 7])(
    'may not be %s',
    ($schema) => {
      expect(refusal(() => input({ $schema }))).toMatch(
        /^The dialect .* is not supported; use "https:.*2020-12/,
      );
    },
  );
  it('is the same for the whole schema', () => {
    const schema = { properties: { a: { $schema: 'http://json-schema.org/draft-07/schema#' } } };
    expect(refusal(() => input(schema))).toContain('"$schema" at #/properties/a differs');
  });
});

describe('references in a schema', () => {
  it.each([
    ['another host', { $ref: 'https://example.com/s.json' }],
    ['another file', { properties: { a: { $ref: 'other.json#/x' } } }],
    ['a dynamic one', { $dynamicRef: 'https://example.com/s#node' }],
  ])('to %s are rejected, never fetched', (_name, schema) => {
    expect(refusal(() => input(schema))).toMatch(/is to another document, and references are never fetched/);
  });
  it.each([
    ['a pointer', { $ref: '#/$defs/none', $defs: { some: {} } }],
    ['an anchor', { $ref: '#none', $defs: { some: { $anchor: 'some' } } }],
    ['a pointer through a scalar', { type: 'object', properties: { a: { $ref: '#/type/x' } } }],
    ['an inherited name', { $ref: '#/$defs/constructor', $defs: {} }],
  ])('without a target are rejected: %s', (_name, schema) => {
    expect(refusal(() => input(schema))).toMatch(/The reference ".*" at #.* has no target in the schema/);
  });
  it.each([
    ['not a string', { $ref: 5 }, '"$ref" at # must be a string'],
    ['not a URI', { $ref: '#/%' }, 'as a URI reference'],
    ['an $id that is not a string', { $id: 5 }, '"$id" must be a string'],
    ['to what is not a schema', { $ref: '#/x', x: 5 }, 'must be an object or a boolean; #/x is neither'],
    [
      'two schemas of one name',
      { $defs: { a: { $anchor: 'n' }, b: { $anchor: 'n', type: 'null' } } },
      'Two different schemas',
    ],
    ['a loop in place', { $ref: '#' }, 'would never end'],
    [
      'a long loop in place',
      {
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
      'would never end',
    ],
    [
      'dynamic scope across resources',
      {
        $dynamicRef: 'https://a.example/#n',
        $defs: {
          a: { $id: 'https://a.example/', $dynamicAnchor: 'n' },
          b: { $id: 'https://b.example/', $dynamicAnchor: 'n' },
        },
      },
      'dynamic scope across "$id" is not supported',
    ],
  ])('that are wrong are rejected: %s', (_name, schema, words) => {
    expect(refusal(() => input(schema))).toContain(words);
  });

  const leaf = { type: 'integer' };
  it.each([
    ['a pointer', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: leaf } }],
    [
      'a pointer with escapes',
      { properties: { a: { $ref: '#/$defs/a~1b%20~0' } }, $defs: { 'a/b ~': leaf } },
    ],
    ['a pointer outside the keywords', { properties: { a: { $ref: '#/x-shared/0' } }, 'x-shared': [leaf] }],
    ['an anchor', { properties: { a: { $ref: '#n' } }, $defs: { n: { $anchor: 'n', ...leaf } } }],
    [
      'a dynamic anchor',
      { properties: { a: { $dynamicRef: '#n' } }, $defs: { n: { $dynamicAnchor: 'n', ...leaf } } },
    ],
    [
      'both kinds at once',
      {
        properties: { a: { $ref: '#/$defs/any', $dynamicRef: '#n', allOf: [{}] } },
        $defs: { n: { $dynamicAnchor: 'n', ...leaf }, any: {} },
      },
    ],
    ['an $id', { properties: { a: { $ref: 'n' } }, $defs: { n: { $id: 'n', ...leaf } } }],
    [
      'a dynamic reference to a plain anchor',
      {
        properties: { a: { $dynamicRef: '#n' } },
        $defs: { n: { $anchor: 'n', ...leaf }, m: { $id: 'm', $dynamicAnchor: 'n', type: 'null' } },
      },
    ],
    [
      'a pointer inside an $id',
      {
        $id: 'https://a.example/s',
        properties: { a: { $ref: 'https://a.example/s#/$defs/n' } },
        $defs: { n: leaf },
      },
    ],
    [
      'an anchor of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#n' } },
        definitions: { n: { $id: '#n', ...leaf } },
      },
    ],
    [
      'a root that is a reference, in draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/o',
        definitions: { o: { type: 'object', properties: { a: leaf } } },
      },
    ],
    ['the same definition twice', { properties: { a: { $id: 'n', ...leaf }, b: { $id: 'n', ...leaf } } }],
  ])('that resolve are accepted: %s', (_name, schema) => {
    const compiled = input(schema);
    expect(compiled.json).toBe(schema);
    expect(compiled.validate({ a: 1 })).toMatchObject({ ok: true });
    expect(compiled.validate({ a: 'x' })).toMatchObject({ ok: false, issues: [{ path: ['a'] }] });
  });
  it('do not conflict if the same definition with an $id is used in two places', () => {
    const Node = Type.Recursive((This) => Type.Object({ children: Type.Array(This), n: Type.Integer() }), {
      $id: 'Node',
    });
    const compiled = compileSchema(Type.Object({ left: Node, right: Node }), { io: 'input' });
    const leafNode = { children: [], n: 1 };
    expect(compiled.validate({ left: leafNode, right: { children: [leafNode], n: 2 } })).toMatchObject({
      ok: true,
    });
    expect(compiled.validate({ left: leafNode, right: { children: [{ n: 1 }], n: 2 } })).toMatchObject({
      ok: false,
      issues: [{ path: ['right', 'children', 0, 'children'] }],
    });
  });
  it('stand alone in draft-07, but not in 2020-12', () => {
    const schema = {
      properties: { a: { $id: 'https://a.example/', $ref: '#/definitions/n', minimum: 5 } },
      definitions: { n: leaf },
    };
    const old = input({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema });
    expect(old.validate({ a: 1 })).toMatchObject({ ok: true });
    const { $id: _, ...a } = schema.properties.a;
    expect(input({ ...schema, properties: { a } }).validate({ a: 1 })).toMatchObject({ ok: false });
    expect(refusal(() => input(schema))).toContain('has no target in the schema');
  });
});

describe('the limits of a schema', () => {
  function nested(levels: number): object {
    return levels === 0 ? {} : { properties: { a: nested(levels - 1) } };
  }
  it('accept 64 levels, and reject 65', () => {
    expect(() => input(nested(63))).not.toThrow();
    expect(refusal(() => input(nested(64)))).toContain('more than 64 levels deep');
  });
  it('accept 10,000 subschemas, and reject more', () => {
    const many = (count: number) => ({
      $defs: Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, {}])),
    });
    expect(() => input(many(9_999))).not.toThrow();
    expect(refusal(() => input(many(10_000)))).toContain('more than 10000 subschemas');
  });
  it('reject references that multiply', () => {
    const $defs: Record<string, unknown> = { d30: {} };
    for (let i = 0; i < 30; i++) {
      $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
    }
    expect(refusal(() => input({ $ref: '#/$defs/d0', $defs }))).toContain('multiply to more than 10000');
  });
  it('reject a long chain of references', () => {
    const $defs: Record<string, unknown> = { d100: {} };
    for (let i = 0; i < 100; i++) $defs[`d${i}`] = { $ref: `#/$defs/d${i + 1}` };
    expect(refusal(() => input({ $ref: '#/$defs/d0', $defs }))).toContain('more than 64 references');
  });
});

describe('a keyword with the wrong kind of value', () => {
  it.each([
    [
      { type: 'float' },
      'The type "float" at #/type is not a JSON type; use one of null, boolean, integer, number',
    ],
    [{ type: ['string', 5] }, 'The type 5 at #/type'],
    [{ properties: { a: { pattern: '(' } } }, 'The pattern "(" at #/properties/a/pattern is not a valid'],
    [{ patternProperties: { '[': {} } }, 'The pattern "[" at #/patternProperties/['],
    [{ pattern: 5 }, '#/pattern must be a string'],
    [{ required: true }, '#/required must be an array of strings'],
    [{ properties: [] }, '#/properties must be an object'],
    [{ properties: { a: 'string' } }, '#/properties/a is neither'],
    [{ anyOf: {} }, '#/anyOf must be an array of schemas'],
    [{ enum: 'a' }, '#/enum must be an array'],
    [{ minimum: '1' }, '#/minimum must be a number'],
    [{ exclusiveMinimum: true }, '#/exclusiveMinimum must be a number'],
    [{ multipleOf: 0 }, '#/multipleOf must be a number greater than 0'],
    [{ minLength: -1 }, '#/minLength must be an integer of 0 or more'],
    [{ uniqueItems: 'yes' }, '#/uniqueItems must be true or false'],
    [{ dependentRequired: { a: 'b' } }, '#/dependentRequired must be an object of arrays of strings'],
    [{ dependencies: { a: [5] } }, '#/dependencies/a must be a schema or an array of strings'],
    [{ items: 5 }, '#/items is neither'],
  ])('is rejected: %j', (schema, words) => {
    expect(refusal(() => input(schema))).toContain(words);
  });
  it('is rejected if it is a type of TypeBox that JSON lacks', () => {
    expect(refusal(() => input(Type.Object({ at: Type.Date() })))).toContain('The type "Date"');
  });
  it('is rejected in jsonSchema() and withJsonSchema() too', () => {
    expect(refusal(() => jsonSchema({ type: 'float' }))).toContain('The type "float"');
    expect(refusal(() => input(withJsonSchema(z.string(), { type: 'float' })))).toContain('The type "float"');
  });
});

describe('a pattern without the u flag', () => {
  it.each([
    ['^a\\-b\\_c$', 'a-b_c', 'a+b_c'],
    ['^[\\w-.]+$', 'a-b.c', 'a b'],
    ['^[.-\\w]+$', 'a-b.c', 'a b'],
    ['^\\"[a\\-z]\\/$', '"-/', '"b/'],
  ])('is understood: %s', (pattern, right, wrong) => {
    const compiled = input({ type: 'string', pattern });
    expect(compiled.json['pattern']).toBe(pattern);
    expect(compiled.validate(right)).toMatchObject({ ok: true });
    expect(compiled.validate(wrong)).toMatchObject({ ok: false });
  });
});

describe('requireObject', () => {
  const a = { type: 'object', properties: { k: { const: 'a' } } };
  const b = { type: 'object', properties: { k: { const: 'b' } } };
  it.each([
    ['anyOf', { anyOf: [a, b] }],
    ['oneOf', { oneOf: [a, b] }],
    ['allOf, of which one is enough', { allOf: [a, { minProperties: 1 }] }],
    ['a reference', { $ref: '#/$defs/a', $defs: { a } }],
    ['object keywords alone', { properties: {} }],
    [
      'references to untyped objects',
      { anyOf: [{ $ref: '#/$defs/a' }, { allOf: [{ required: ['x'] }] }], $defs: { a: { properties: {} } } },
    ],
    ['an array with one type', { type: ['object'] }],
  ])('adds the type to %s', (_name, schema) => {
    const compiled = toolInput(schema);
    expect(compiled.json).toEqual({ ...schema, type: 'object' });
    expect(compiled.validate([])).toMatchObject({ ok: false });
    expect(input(schema).json).toBe(schema);
  });
  it('adds the type to a discriminated union of zod', () => {
    const schema = z.discriminatedUnion('k', [
      z.object({ k: z.literal('a') }),
      z.object({ k: z.literal('b') }),
    ]);
    expect(toolInput(schema).json).toMatchObject({
      type: 'object',
      oneOf: [{ type: 'object' }, { type: 'object' }],
    });
  });
  it.each([
    ['a string', { type: 'string' }, 'but it describes a string; wrap it in an object'],
    ['an object or null', { type: ['object', 'null'] }, 'but it describes an object or null'],
    ['a union with a string', { anyOf: [a, { type: 'string' }] }, 'but it describes an object or a string'],
    ['an empty union', { anyOf: [] }, '"type": "object" at its root);'],
    ['anything', {}, '("type": "object" at its root); wrap it'],
    ['a union with anything', { oneOf: [a, true] }, 'at its root); wrap it'],
  ])('rejects %s', (_name, schema, words) => {
    expect(refusal(() => toolInput(schema))).toContain(words);
  });
  it('keeps a schema of an object as it is', () => {
    const schema = Object.freeze({
      type: 'object',
      'x-mcp-header': 1,
      $defs: { n: { $anchor: 'n' } },
      examples: [{}],
    });
    expect(toolInput(schema).json).toBe(schema);
  });
});

it('a schema error has a name and a code', () => {
  expect(new SchemaError('x')).toMatchObject({ name: 'SchemaError', code: 'schema', message: 'x' });
});
