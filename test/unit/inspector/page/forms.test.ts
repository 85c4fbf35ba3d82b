import { describe, expect, test } from 'vitest';
import { check } from '../../../../inspector/form/check.js';
import { matchesPattern } from '../../../../inspector/form/check-text.js';
import { type FieldKind, fieldKind } from '../../../../inspector/form/field-kind.js';
import { initialArguments } from '../../../../inspector/form/initial-value.js';
import { isTooLarge } from '../../../../inspector/form/size.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { shapeOf } from '../../../../src/schema/read/shape.js';

const card = {
  type: 'object',
  properties: { kind: { const: 'card' }, last4: { type: 'string' } },
  required: ['kind', 'last4'],
};
const invoice = {
  type: 'object',
  properties: { kind: { const: 'invoice' }, dueDays: { type: 'integer', default: 14 } },
  required: ['kind'],
};

function wordsOf(schema: JsonObject, value: unknown): Record<string, string> {
  return Object.fromEntries([...check(schema, value)].map(([path, { message }]) => [path, message]));
}

describe('the kind of a field', () => {
  test.each<[FieldKind, JsonObject]>([
    ['text', { type: 'string' }],
    ['number', { type: 'integer' }],
    ['boolean', { type: 'boolean' }],
    ['choice', { enum: ['a', 'b'] }],
    [
      'choice',
      {
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
      },
    ],
    ['choices', { type: 'array', items: { enum: ['a', 'b'] } }],
    ['const', { const: 1 }],
    ['object', { type: 'object', properties: { a: {} } }],
    ['map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['array', { type: 'array', items: { type: 'object', properties: {} } }],
    ['union', { anyOf: [card, invoice] }],
    ['json', {}],
    ['json', { type: ['string', 'number'] }],
  ])('is %s for %j', (kind, schema) => {
    expect(fieldKind(shapeOf(schema, schema), schema)).toBe(kind);
  });

  test('is that of the other type if null is allowed, too', () => {
    expect(shapeOf({ type: ['string', 'null'] }, {})).toMatchObject({ kind: 'string', isNullable: true });
    expect(shapeOf({ anyOf: [{ type: 'integer' }, { type: 'null' }] }, {})).toMatchObject({
      kind: 'number',
      isNullable: true,
      isInteger: true,
    });
  });

  test('follows references inside the document, and never out of it', () => {
    const root = { $defs: { size: { enum: ['s', 'm'] }, alias: { $ref: '#/$defs/size' } } };
    expect(shapeOf({ $ref: '#/$defs/alias' }, root).kind).toBe('choice');
    expect(shapeOf({ $ref: 'https://example.org/schema.json' }, root).kind).toBe('any');
    expect(shapeOf({ $ref: '#/$defs/constructor' }, root).kind).toBe('any');
  });

  test('joins the parts of allOf', () => {
    const schema = {
      allOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'number' } } },
      ],
    };
    const shape = shapeOf(schema, schema);
    expect(shape.kind).toBe('object');
    expect(wordsOf(schema, {})).toEqual({ '/a': 'Required.' });
  });

  test.each<JsonObject>([
    { $ref: '#' },
    { type: 'array', items: { $ref: '#' } },
    { anyOf: [{ $ref: '#' }, { type: 'null' }] },
    { oneOf: [{ $ref: '#' }, { type: 'object', properties: { next: { $ref: '#' } } }] },
    { allOf: [{ $ref: '#' }, { properties: { a: { $ref: '#' } } }] },
    { type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] },
  ])('ends for a schema that contains itself: %j', (schema) => {
    expect(() => shapeOf(schema, schema)).not.toThrow();
    expect(() => initialArguments(schema)).not.toThrow();
    expect(() => check(schema, { child: { child: {} }, a: [], next: {} })).not.toThrow();
  });

  test('ends soon for unions of unions', () => {
    let looks = 0;
    let schema: JsonObject = { type: 'object', properties: { leaf: { type: 'string' } }, required: ['leaf'] };
    for (let depth = 0; depth < 12; depth++) {
      const oneOf = Array.from({ length: 5 }, () => ({ type: 'object', properties: { inner: schema } }));
      schema = {
        get oneOf() {
          looks++;
          return oneOf;
        },
      };
    }
    let value: JsonObject = { leaf: 1 };
    for (let depth = 0; depth < 12; depth++) value = { inner: value };
    check(schema, value);
    // Every way to a leaf would be 5 ** 12 of them.
    expect(looks).toBeLessThan(50_000);
  });
});

describe('a form begins', () => {
  test('with defaults, with examples of what is required, and with the first choice', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', examples: ['Ann'] },
        nickname: { type: 'string', examples: ['A'] },
        size: { enum: ['small', 'large'] },
        count: { type: 'integer', default: 2 },
        note: { type: 'string' },
        payment: { oneOf: [card, invoice] },
        lines: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', properties: { quantity: { default: 1 } } },
        },
        address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
      required: ['name', 'size', 'payment', 'lines'],
    };
    expect(initialArguments(schema)).toEqual({
      name: 'Ann',
      size: 'small',
      count: 2,
      payment: { kind: 'card' },
      lines: [{ quantity: 1 }],
    });
  });

  test('with a copy of a default, so that typing does not change the schema', () => {
    const schema = { type: 'object', properties: { tags: { default: ['a'] } } };
    const first = initialArguments(schema)['tags'] as string[];
    first.push('b');
    expect(initialArguments(schema)['tags']).toEqual(['a']);
  });
});

describe('while typing', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 4 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      step: { type: 'number', multipleOf: 0.1 },
      day: { type: 'string', format: 'date' },
      mail: { type: 'string', format: 'email' },
      site: { type: 'string', format: 'uri' },
      code: { type: 'string', pattern: '^[A-Z]{3}$' },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 },
      maybe: { type: ['string', 'null'] },
    },
    required: ['name', 'age'],
    additionalProperties: false,
  };

  test('a right value is not called wrong', () => {
    const value = {
      name: 'Ann',
      age: 7,
      step: 0.3,
      day: '2026-07-28',
      mail: 'a@b.c',
      site: 'https://example.org',
      code: 'ABC',
      tags: ['a'],
      maybe: null,
    };
    expect(wordsOf(schema, value)).toEqual({});
  });

  test('each field says what is wrong with it', () => {
    const value = {
      name: 'A',
      age: '7x',
      step: 0.25,
      day: '28.7.2026',
      mail: 'nobody',
      site: 'example',
      code: 'abc',
      tags: ['a', 'b'],
      maybe: 3,
      other: 1,
    };
    expect(wordsOf(schema, value)).toEqual({
      '/name': 'At least 2 characters.',
      '/age': 'Must be an integer.',
      '/step': 'Must be a multiple of 0.1.',
      '/day': 'Must be a date, as in 2026-07-28.',
      '/mail': 'Must be an email address.',
      '/site': 'Must be a URI, as in https://example.org.',
      '/code': 'Must match ^[A-Z]{3}$',
      '/tags': 'At most 1 items.',
      '/maybe': 'Must be a string.',
      '/other': 'Unknown field other.',
    });
  });

  test('a missing value is known as such', () => {
    expect(check(schema, { name: 'Ann' }).get('/age')).toEqual({ message: 'Required.', isMissing: true });
  });

  test('a union is checked by the branch that fits best', () => {
    const union = { type: 'object', properties: { payment: { oneOf: [card, invoice] } } };
    expect(wordsOf(union, { payment: { kind: 'card' } })).toEqual({ '/payment/last4': 'Required.' });
    expect(wordsOf(union, { payment: { kind: 'invoice', dueDays: 'soon' } })).toEqual({
      '/payment/dueDays': 'Must be an integer.',
    });
  });

  test('a pattern that could take forever is not tried', () => {
    expect(matchesPattern('^(a+)+$', `${'a'.repeat(60)}!`)).toBeUndefined();
    expect(matchesPattern('^(a|a)*$', `${'a'.repeat(60)}!`)).toBeUndefined();
    expect(matchesPattern('a*a*a*a*a*b', 'a'.repeat(150))).toBeUndefined();
    expect(matchesPattern('(a)\\1', 'aa')).toBeUndefined();
    expect(matchesPattern('[', 'a')).toBeUndefined();
    expect(matchesPattern('^\\d+$', '12')).toBe(true);
  });

  test('the name of a property of every object is not a field', () => {
    expect(wordsOf({ type: 'object', properties: {}, required: ['toString'] }, {})).toEqual({
      '/toString': 'Required.',
    });
  });
});

test('a schema that is too deep or too wide for a form gets the editor', () => {
  let deep: JsonObject = {};
  for (let depth = 0; depth < 60; depth++) deep = { properties: { a: deep } };
  expect(isTooLarge(deep)).toBe(true);
  const wide = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => [`field${at}`, { type: 'string' }]),
  );
  expect(isTooLarge({ properties: wide })).toBe(true);
  expect(isTooLarge({ properties: { city: { enum: Array.from({ length: 5000 }, String) } } })).toBe(false);
});
