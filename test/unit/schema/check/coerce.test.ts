import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerce } from '../../../../src/schema/check/coerce.js';
import { accepts } from '../../../../src/schema/check/validator.js';
import { compileSchema } from '../../../../src/schema/compile.js';
import { readDocument } from '../../../../src/schema/document/document.js';

const run = (schema: unknown, value: unknown) => coerce(readDocument(schema), value);
const field = (schema: unknown, value: unknown) => {
  const result = run({ properties: { x: schema } }, { x: value });
  return (result.value as { x: unknown }).x;
};

describe('coercion converts a string where the schema forbids strings', () => {
  it.each([
    [{ type: 'number' }, '5', 5],
    [{ type: 'number' }, '-1.5e2', -150],
    [{ type: 'integer' }, '7', 7],
    [{ type: 'integer' }, '1e2', 100],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'null' }, 'null', null],
    [{ type: ['number', 'null'] }, 'null', null],
    [{ type: ['number', 'boolean'] }, 'true', true],
    [{ type: 'array' }, '[1, "2"]', [1, '2']],
    [{ type: 'object' }, ' {"a": 1}', { a: 1 }],
    [{ const: 5 }, '5', 5],
    [{ enum: [1, 2, null] }, '2', 2],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, '5', 5],
    [{ oneOf: [{ type: 'object' }, { type: 'array' }] }, '[]', []],
    [{ allOf: [{ type: ['string', 'number'] }, { type: ['number', 'null'] }] }, '5', 5],
    [{ type: 'array', items: { type: 'integer' } }, '["1","2"]', [1, 2]],
  ])('under the schema %j: %j', (schema, text, value) => {
    expect(field(schema, text)).toEqual(value);
  });
});

describe('coercion leaves a string unchanged', () => {
  const examples: [schema: unknown, text: string][] = [
    [{}, '5'],
    [true, '5'],
    [false, '5'],
    [{ type: 'string' }, '5'],
    [{ type: ['string', 'number'] }, '5'],
    [{ enum: [1, '1'] }, '1'],
    [{ anyOf: [{ type: 'number' }, { type: 'string' }] }, '5'],
    [{ anyOf: [{ type: 'number' }, { minLength: 1 }] }, '5'],
    [{ oneOf: [{ type: 'number' }, true] }, '5'],
    [{ type: 'integer' }, '1.5'],
    [{ type: 'number' }, '05'],
    [{ type: 'number' }, '+5'],
    [{ type: 'number' }, ' 5'],
    [{ type: 'number' }, '5 '],
    [{ type: 'number' }, '0x10'],
    [{ type: 'number' }, '.5'],
    [{ type: 'number' }, '1e400'],
    [{ type: 'number' }, 'NaN'],
    [{ type: 'number' }, ''],
    [{ type: 'integer' }, '12345678901234567890'],
    [{ type: 'boolean' }, 'True'],
    [{ type: 'boolean' }, '1'],
    [{ type: 'null' }, ''],
    [{ type: 'array' }, '{}'],
    [{ type: 'object' }, '[]'],
    [{ type: 'array' }, '[1'],
    [{ type: 'array' }, 'a,b'],
    [{ type: 'array' }, `["${'x'.repeat(100_000)}"]`],
    [{ type: 'array' }, '['.repeat(70) + ']'.repeat(70)],
    [{ type: 'array' }, '['.repeat(40_000) + ']'.repeat(40_000)],
  ];
  const cases = examples.map(([schema, text]) => [schema, text.slice(0, 30), text] as const);
  it.each(cases)('under the schema %j: %j', (schema, _start, text) => {
    expect(field(schema, text)).toBe(text);
  });
});

describe('coercion follows the schema', () => {
  const number = { type: 'number' };
  it.each([
    ['properties', { properties: { a: number } }, { a: '1', b: '1' }, { a: 1, b: '1' }],
    [
      'additionalProperties',
      { properties: { a: {} }, additionalProperties: number },
      { a: '1', b: '2' },
      { a: '1', b: 2 },
    ],
    [
      'patternProperties',
      { patternProperties: { '^n': number }, additionalProperties: { type: 'boolean' } },
      { n1: '1', b: 'true' },
      { n1: 1, b: true },
    ],
    ['items', { items: number }, ['1', 2, 'x'], [1, 2, 'x']],
    [
      'prefixItems',
      { prefixItems: [true, number], items: { type: 'boolean' } },
      ['1', '2', 'true'],
      ['1', 2, true],
    ],
    [
      'the tuples of draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        items: [true, number],
        additionalItems: { type: 'boolean' },
      },
      ['1', '2', 'true'],
      ['1', 2, true],
    ],
    ['$ref', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: number } }, { a: '1' }, { a: 1 }],
    [
      'allOf',
      { allOf: [{ properties: { a: number } }, { properties: { b: number } }] },
      { a: '1', b: '2' },
      { a: 1, b: 2 },
    ],
    [
      'recursion',
      { type: 'object', properties: { n: number, next: { $ref: '#' } } },
      { n: '1', next: '{"n":"2"}' },
      { n: 1, next: { n: 2 } },
    ],
    [
      'the branch a discriminator chooses',
      {
        oneOf: [
          { properties: { k: { const: 'a' }, v: number } },
          { properties: { k: { const: 'b' }, v: { type: 'boolean' } } },
        ],
      },
      { k: 'b', v: 'true' },
      { k: 'b', v: true },
    ],
    [
      'the branch that required fields choose',
      {
        anyOf: [{ allOf: [{ required: ['a'], properties: { a: number } }] }, { $ref: '#/$defs/b' }],
        $defs: { b: { required: ['b'], properties: { b: number } } },
      },
      { b: '1' },
      { b: 1 },
    ],
    [
      'the branch of the right type',
      { anyOf: [{ type: 'object', properties: { a: number } }, { type: 'string' }] },
      { a: '1' },
      { a: 1 },
    ],
    [
      'no branch if several fit',
      { anyOf: [{ properties: { a: number } }, { properties: { a: { type: 'boolean' } } }] },
      { a: '1' },
      { a: '1' },
    ],
    [
      'the other branch if one forbids everything',
      { anyOf: [false, { properties: { a: number } }] },
      { a: '1' },
      { a: 1 },
    ],
  ])('through %s', (_name, schema, value, expected) => {
    const before = structuredClone(value);
    expect(run(schema, value).value).toEqual(expected);
    expect(value).toEqual(before);
  });

  it('and copies only the path to a change', () => {
    const value = { a: { n: '1' }, b: { n: 1 } };
    const node = { properties: { n: number } };
    const result = run({ properties: { a: node, b: node } }, value).value as typeof value;
    expect(result.b).toBe(value.b);
    expect(result.a).not.toBe(value.a);
    expect(run({ properties: { b: node } }, value)).toEqual({ changed: false, value });
  });

  it('and treats __proto__ and constructor as fields', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"number"}}}',
    );
    const value = JSON.parse('{"__proto__":"1","constructor":"2"}');
    const result = run(schema, value).value as object;
    expect(JSON.stringify(result)).toBe('{"__proto__":1,"constructor":2}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(run({ properties: {} }, value).changed).toBe(false);
  });

  it('down to a maximum depth', () => {
    const schema = { type: 'object', properties: { n: number, next: { $ref: '#' } } };
    let value: unknown = { n: '1' };
    for (let i = 0; i < 1000; i++) value = { next: value };
    expect(run(schema, value).changed).toBe(false);
  });
});

it('coercion is used only after a failed validation, and the remaining problems are reported', () => {
  const compiled = compileSchema({ properties: { a: { type: 'number', maximum: 5 } } }, { io: 'input' });
  expect(compiled.validate({ a: '5' })).toEqual({ ok: true, value: { a: 5 } });
  expect(compiled.validate({ a: '6' })).toEqual({
    ok: false,
    issues: [{ path: ['a'], message: 'must be at most 5, got 6' }],
  });
});

describe('for any schema and value', () => {
  const leaf = fc.constantFrom<unknown>(
    {},
    true,
    false,
    { type: 'string' },
    { type: 'number' },
    { type: 'integer' },
    { type: 'boolean' },
    { type: ['null', 'boolean'] },
    { type: ['string', 'integer'] },
    { type: 'array', items: { type: 'integer' } },
    { const: 1 },
    { const: 'a' },
    { enum: ['a', 1, true] },
    { enum: [1, 2] },
    { $ref: '#' },
  );
  const { schema } = fc.letrec<{ schema: unknown; inner: unknown }>((tie) => ({
    inner: fc.oneof({ depthSize: 'small' }, leaf, tie('schema')),
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.record({
        type: fc.constant('object'),
        properties: fc.record({ a: tie('inner'), b: tie('inner') }, { requiredKeys: [] }),
      }),
      fc.record({ properties: fc.record({ a: tie('inner') }), required: fc.constant(['a']) }),
      fc.record({ type: fc.constant('object'), additionalProperties: tie('inner') }),
      fc.record({ items: tie('inner') }),
      fc.record({ prefixItems: fc.tuple(tie('inner')), items: tie('inner') }),
      fc.record({
        properties: fc.record({
          a: fc.record({ anyOf: fc.array(tie('inner'), { minLength: 1, maxLength: 3 }) }),
        }),
      }),
      fc.record({ items: fc.record({ oneOf: fc.array(tie('inner'), { minLength: 1, maxLength: 3 }) }) }),
      fc.record({
        properties: fc.record({ b: fc.record({ allOf: fc.array(tie('inner'), { maxLength: 2 }) }) }),
      }),
    ),
  }));
  const text = fc.constantFrom('1', '2', 'true', 'null', 'a', '[1]', '{"a":"1"}', '1.5');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(1, 2, true, null, 1.5),
      fc.record({ a: tie('value'), b: tie('value') }, { requiredKeys: [] }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  // A random `$ref: "#"` inside a root that only combines would loop; such schemas are rejected, not tested here.
  function read(json: unknown) {
    try {
      return readDocument(json);
    } catch {
      return undefined;
    }
  }

  it('coercion never changes a valid value', () => {
    let valid = 0;
    fc.assert(
      fc.property(schema, value, (json, input) => {
        const document = read(json);
        if (document === undefined || !accepts(document, input)) return;
        valid++;
        expect(coerce(document, input)).toEqual({ changed: false, value: input });
      }),
      { numRuns: 3000 },
    );
    expect(valid).toBeGreaterThan(100);
  });

  it('coercion replaces a string only by the value it spells, where a string could not be valid', () => {
    let changed = 0;
    fc.assert(
      fc.property(leaf, text, (json, input) => {
        const document = readDocument({ properties: { x: json } });
        const result = coerce(document, { x: input });
        if (!result.changed) return;
        changed++;
        expect(accepts(document, { x: input })).toBe(false);
        for (const other of ['', 'a', 'b', '1', 'true']) expect(accepts(document, { x: other })).toBe(false);
        const replacement = (result.value as { x: unknown }).x;
        const parsed: unknown = JSON.parse(input);
        if (typeof parsed !== 'object') expect(replacement).toEqual(parsed);
        else expect(Array.isArray(replacement)).toBe(Array.isArray(parsed));
      }),
      { numRuns: 1000 },
    );
    expect(changed).toBeGreaterThan(20);
  });

  it('coercion is idempotent', () => {
    fc.assert(
      fc.property(schema, value, (json, input) => {
        const document = read(json);
        if (document === undefined) return;
        const once = coerce(document, input).value;
        expect(coerce(document, once).value).toEqual(once);
      }),
      { numRuns: 1000 },
    );
  });

  it('neither coercion nor validation throws or mutates', () => {
    fc.assert(
      fc.property(schema, fc.jsonValue({ stringUnit: 'binary' }), (json, input) => {
        const document = read(json);
        if (document === undefined) return;
        const before = JSON.stringify(input);
        coerce(document, input);
        const checked = compileSchema(json as object as Record<string, unknown>, { io: 'input' }).validate(
          input,
        );
        expect(checked).toHaveProperty('ok');
        expect(JSON.stringify(input)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });
});
