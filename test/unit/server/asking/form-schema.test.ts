import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Schema } from '../../../../src/schema/schema.js';
import { formQuestion } from '../../../../src/server/asking/question.js';

const question = (schema: Schema) => formQuestion({ message: 'Well?', schema });
const formOfSchema = (schema: Schema): unknown => question(schema).request.params?.['requestedSchema'];
const field = (json: object): unknown =>
  (formOfSchema({ type: 'object', properties: { it: json } }) as { properties: { it: unknown } }).properties
    .it;
const accept = (schema: Schema, content?: object): unknown =>
  question(schema).read({ action: 'accept', ...(content && { content }) });

describe('a form from zod', () => {
  test('has strings, with formats, bounds and defaults', () => {
    const schema = z.object({
      name: z.string().min(2).max(50).meta({ title: 'Name', description: 'In full' }),
      email: z.email(),
      site: z.url().optional(),
      day: z.iso.date(),
      at: z.iso.datetime().optional(),
      city: z.string().default('Rome'),
      id: z.uuid(),
    });
    expect(formOfSchema(schema)).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', description: 'In full', minLength: 2, maxLength: 50 },
        email: { type: 'string', format: 'email' },
        site: { type: 'string', format: 'uri' },
        day: { type: 'string', format: 'date' },
        at: { type: 'string', format: 'date-time' },
        city: { type: 'string', default: 'Rome' },
        // Forms do not have this format, but the answer is still checked.
        id: { type: 'string' },
      },
      required: ['name', 'email', 'day', 'id'],
    });
  });

  test('has numbers and booleans', () => {
    const schema = z.object({
      score: z.number().min(0).max(99.5).default(95.5),
      age: z.int(),
      stars: z.int().min(1).max(5),
      count: z.int().positive().lt(10),
      news: z.boolean().default(true),
    });
    expect(formOfSchema(schema)).toEqual({
      type: 'object',
      properties: {
        score: { type: 'number', minimum: 0, maximum: 99.5, default: 95.5 },
        age: { type: 'integer' },
        stars: { type: 'integer', minimum: 1, maximum: 5 },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        news: { type: 'boolean', default: true },
      },
      required: ['age', 'stars', 'count'],
    });
  });

  test('has single and multiple choices', () => {
    const titled = z.union([z.literal('r').meta({ title: 'Red' }), z.literal('g').meta({ title: 'Green' })]);
    const schema = z.object({
      plain: z.enum(['a', 'b']).default('a'),
      literals: z.literal(['a', 'b']),
      union: z.union([z.literal('a'), z.literal('b')]),
      only: z.literal('a'),
      titled,
      many: z
        .array(z.enum(['a', 'b']))
        .min(1)
        .max(2),
      manyTitled: z.array(titled).default(['r']),
    });
    const ab = { type: 'string', enum: ['a', 'b'] };
    const colours = [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ];
    expect(formOfSchema(schema)).toEqual({
      type: 'object',
      properties: {
        plain: { ...ab, default: 'a' },
        literals: ab,
        union: ab,
        only: { type: 'string', enum: ['a'] },
        titled: { type: 'string', oneOf: colours },
        many: { type: 'array', items: ab, minItems: 1, maxItems: 2 },
        manyTitled: { type: 'array', items: { anyOf: colours }, default: ['r'] },
      },
      required: ['literals', 'union', 'only', 'titled', 'many'],
    });
  });
});

test('a form can be made from valibot', () => {
  const schema = toStandardJsonSchema(
    v.object({
      email: v.pipe(v.string(), v.email()),
      name: v.optional(v.pipe(v.string(), v.minLength(2)), 'Ada'),
      stars: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
      one: v.picklist(['a', 'b']),
      union: v.union([v.literal('a'), v.literal('b')]),
      many: v.array(v.picklist(['a', 'b'])),
      news: v.optional(v.boolean(), false),
    }),
  );
  const ab = { type: 'string', enum: ['a', 'b'] };
  expect(formOfSchema(schema)).toEqual({
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email' },
      name: { type: 'string', minLength: 2, default: 'Ada' },
      stars: { type: 'integer', minimum: 1, maximum: 5 },
      one: ab,
      union: ab,
      many: { type: 'array', items: ab },
      news: { type: 'boolean', default: false },
    },
    required: ['email', 'stars', 'one', 'union', 'many'],
  });
});

test('a form can be made from arktype', () => {
  const schema = type({
    email: 'string.email',
    name: '2 <= string <= 50',
    stars: '1 <= number.integer <= 5',
    one: "'a' | 'b'",
    only: "'a'",
    many: "('a' | 'b')[]",
    news: 'boolean',
    'site?': 'string.url',
  });
  const ab = { type: 'string', enum: ['a', 'b'] };
  const form = formOfSchema(schema) as { required: string[] };
  expect(form).toMatchObject({
    properties: {
      email: { type: 'string', format: 'email' },
      name: { type: 'string', minLength: 2, maxLength: 50 },
      stars: { type: 'integer', minimum: 1, maximum: 5 },
      one: ab,
      only: { type: 'string', enum: ['a'] },
      many: { type: 'array', items: ab },
      news: { type: 'boolean' },
      site: { type: 'string', format: 'uri' },
    },
  });
  expect(form.required.sort()).toEqual(['email', 'many', 'name', 'news', 'one', 'only', 'stars']);
});

describe('a form from JSON Schema', () => {
  const titled = [
    { const: 'r', title: 'Red' },
    { const: 'g', title: 'Green' },
  ];

  test.each([
    ['a string', { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 2, default: 'x' }],
    ['an email address', { type: 'string', format: 'email', default: 'a@example.com' }],
    ['a number', { type: 'number', minimum: 0.5, maximum: 1, default: 0.75 }],
    ['an integer', { type: 'integer', minimum: 1, maximum: 3, default: 2 }],
    ['a boolean', { type: 'boolean', default: false }],
    ['a choice', { type: 'string', enum: ['a', 'b'], default: 'b' }],
    ['a titled choice', { type: 'string', oneOf: titled, default: 'r' }],
    ['a choice titled with enumNames', { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }],
    [
      'a multiple choice',
      { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, maxItems: 1 },
    ],
    ['a titled multiple choice', { type: 'array', items: { anyOf: titled }, default: ['g'] }],
  ])('keeps %s unchanged', (_, json) => {
    expect(field(json)).toEqual(json);
  });

  test('omits keywords that forms do not have if the answer is checked for them anyway', () => {
    expect(field({ type: 'number', multipleOf: 2, examples: [4], 'x-own': 1 })).toEqual({ type: 'number' });
    expect(field({ type: 'string', format: 'uuid' })).toEqual({ type: 'string' });
    expect(field({ type: 'array', items: { oneOf: titled } })).toEqual({
      type: 'array',
      items: { anyOf: titled },
    });
  });

  test.each([
    [
      'an object',
      { type: 'object', properties: { a: { type: 'string' } } },
      /a string, a number, a boolean or a choice/,
    ],
    [
      'an array of numbers',
      { type: 'array', items: { type: 'number' } },
      /the items of an array must be a choice of strings/,
    ],
    [
      'an array of free strings',
      { type: 'array', items: { type: 'string' } },
      /the items of an array must be a choice of strings/,
    ],
    ['an array of anything', { type: 'array' }, /the items of an array must be a choice of strings/],
    [
      'a union',
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
      /a string, a number, a boolean or a choice/,
    ],
    ['a union of one type', { type: 'string', oneOf: [{ minLength: 3 }, { const: '' }] }, /or a choice/],
    ['two types', { type: ['string', 'null'] }, /a string, a number, a boolean or a choice/],
    ['no type', {}, /a string, a number, a boolean or a choice/],
    ['a reference', { $ref: '#' }, /a string, a number, a boolean or a choice/],
    ['a pattern', { type: 'string', pattern: '^a' }, /a form cannot express a pattern/],
    ['a choice of numbers', { type: 'number', enum: [1, 2] }, /the options of a choice must be strings/],
  ])('rejects %s, with the name of the field and the reason', (_, json, why) => {
    expect(() => field(json)).toThrow(why);
    expect(() => field(json)).toThrow(/^The field "it" cannot be shown in a form: /);
  });

  test('must have a field', () => {
    expect(() => formOfSchema({ type: 'object' })).toThrow('A form needs at least one field');
  });
});

test.each([
  ['zod', z.object({ inner: z.object({ a: z.string() }) })],
  ['zod', z.object({ inner: z.array(z.number()) })],
  ['zod', z.object({ inner: z.union([z.string(), z.number()]) })],
  ['zod', z.object({ inner: z.string().nullable() })],
  ['zod', z.object({ inner: z.string().regex(/a/) })],
  ['valibot', toStandardJsonSchema(v.object({ inner: v.object({ a: v.string() }) }))],
  ['arktype', type({ inner: 'number[]' })],
])('a type from %s that a form cannot show is rejected with the name of the field', (_, schema) => {
  expect(() => formOfSchema(schema)).toThrow(/^The field "inner" cannot be shown in a form/);
});

describe('an accepted answer', () => {
  const json = {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'Ada' },
      size: { type: 'string', enum: ['s', 'l'], default: 's' },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
      news: { type: 'boolean', default: false },
      age: { type: 'integer' },
    },
    required: ['name', 'age'],
  };

  test('is completed with defaults for missing fields only', () => {
    expect(accept(json, { age: 3, size: 'l' })).toEqual({
      ok: true,
      value: { action: 'accept', content: { name: 'Ada', size: 'l', tags: ['a'], news: false, age: 3 } },
    });
    expect(accept(json, { name: '', news: true, tags: [], age: 0 })).toMatchObject({
      value: { content: { name: '', news: true, tags: [], age: 0 } },
    });
  });

  test.each([
    ['zod', z.object({ n: z.number().default(5) })],
    ['valibot', toStandardJsonSchema(v.object({ n: v.optional(v.number(), 5) }))],
    ['arktype', type({ n: 'number = 5' })],
    ['JSON Schema', { type: 'object', properties: { n: { type: 'number', default: 5 } } }],
  ])('without content consists of the defaults (%s)', (_, schema) => {
    expect(accept(schema)).toEqual({ ok: true, value: { action: 'accept', content: { n: 5 } } });
  });

  test('that does not fit the form is rejected', () => {
    for (const content of [{}, { age: 'old' }, { age: 1, size: 'xl' }, { age: 1, tags: ['c'] }])
      expect(accept(json, content)).toEqual({ ok: false });
    for (const response of [undefined, null, 7, {}, { action: 'perhaps' }, { action: 'accept', content: 7 }])
      expect(question(json).read(response)).toEqual({ ok: false });
  });

  test('is checked for conditions that the form could not express', () => {
    expect(accept(z.object({ id: z.uuid() }), { id: 'seven' })).toEqual({ ok: false });
    expect(accept(z.object({ n: z.number().multipleOf(2) }), { n: 3 })).toEqual({ ok: false });
  });

  test('needs a synchronous schema', () => {
    const later = z.object({ a: z.string().refine(async () => true) });
    expect(() => accept(later, { a: 'x' })).toThrow('must validate synchronously');
  });
});

test('an answer that declines or cancels needs no content, and content that it has is ignored', () => {
  const { read } = question(z.object({ a: z.string() }));
  expect(read({ action: 'decline' })).toEqual({ ok: true, value: { action: 'decline' } });
  expect(read({ action: 'cancel', content: { a: 1 } })).toEqual({ ok: true, value: { action: 'cancel' } });
});
