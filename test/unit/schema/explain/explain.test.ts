import { toJsonSchema } from '@valibot/to-json-schema';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileSchema } from '../../../../src/schema/compile.js';
import { explain } from '../../../../src/schema/explain/explain.js';
import { type Schema, withJsonSchema } from '../../../../src/schema/schema.js';

function explanation(schema: Schema, value: unknown, io: 'input' | 'output' = 'input'): string {
  const compiled = compileSchema(schema, { io });
  const checked = compiled.validate(value);
  if (checked instanceof Promise || checked.ok) throw new Error('was accepted');
  return explain(checked.issues, compiled, value);
}

/** The explanation of one field's problem. */
const field = (schema: unknown, value: unknown): string =>
  explanation({ properties: { x: schema } }, { x: value });

const pair = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};

describe('an explanation for the model', () => {
  it('names the field, the expected value, the received value and the valid fields', () => {
    expect(explanation(pair, { a: 'x' })).toBe(
      'a: expected a number, got the string "x"; b: required (a number), missing. Valid fields: a, b.',
    );
  });
  it('does not report problems that coercion solved', () => {
    expect(explanation(pair, { a: '5' })).toBe('b: required (a number), missing. Valid fields: a, b.');
    expect(explanation(pair, { a: '5', b: 1 }, 'output')).toBe(
      'a: expected a number, got the string "5". Valid fields: a, b.',
    );
  });
  it('names unknown fields, and the one that was probably meant', () => {
    const strict = {
      type: 'object',
      properties: { userName: {}, city: {} },
      additionalProperties: false,
    };
    const fields = 'Valid fields: userName, city.';
    expect(explanation(strict, { userNmae: 1 })).toBe(
      `userNmae: unknown field, did you mean "userName"? ${fields}`,
    );
    expect(explanation(strict, { user_name: 1 })).toBe(
      `user_name: unknown field, did you mean "userName"? ${fields}`,
    );
    expect(explanation(strict, { ciyt: 1 })).toBe(`ciyt: unknown field, did you mean "city"? ${fields}`);
    expect(explanation(strict, { c: 1 })).toBe(`c: unknown field. ${fields}`);
    expect(explanation(strict, { [`city${'x'.repeat(50)}`]: 1 })).toContain('x: unknown field. ');
    expect(explanation(z.strictObject({ city: z.string().optional() }), { citi: 1 })).toBe(
      'citi: unknown field, did you mean "city"? Valid fields: city.',
    );
  });
  it('ignores names that are too long to be similar', () => {
    const schema = { properties: { [`city${'y'.repeat(40)}`]: {} }, additionalProperties: false };
    expect(explanation(schema, { cityy: 1 })).toContain('cityy: unknown field. ');
  });
  it('shows nested paths, and the fields of that object', () => {
    const schema = { properties: { lines: { items: pair }, 'odd name': pair } };
    expect(
      explanation(schema, {
        lines: [
          { a: 1, b: 2 },
          { a: 1, b: null },
        ],
      }),
    ).toBe('lines[1].b: expected a number, got null. Valid fields of lines[1]: a, b.');
    expect(explanation(schema, { 'odd name': { a: 1 } })).toBe(
      '["odd name"].b: required (a number), missing. Valid fields of ["odd name"]: a, b.',
    );
    expect(explanation(schema, { lines: 5, 'odd name': 5 })).toBe(
      '["odd name"]: expected an object, got the number 5. Valid fields: lines, "odd name".',
    );
  });
});

describe('an explanation of a keyword', () => {
  it.each([
    [{ type: 'integer' }, 1.5, 'expected an integer, got the number 1.5'],
    [{ type: ['number', 'null'] }, 'x', 'expected a number or null, got the string "x"'],
    [{ type: 'string' }, null, 'expected a string, got null'],
    [{ type: 'string' }, [1], 'expected a string, got an array'],
    [{ type: 'string' }, { a: 1 }, 'expected a string, got an object'],
    [{ type: 'string' }, true, 'expected a string, got true'],
    [{ type: 'string', const: 'a' }, 5, 'expected "a", got the number 5'],
    [{ const: null }, 5, 'expected null, got the number 5'],
    [{ enum: ['red', 'green'] }, 'blue', 'expected one of "red", "green", got the string "blue"'],
    [{ type: 'string', enum: ['red'] }, 'blue', 'expected "red", got the string "blue"'],
    [
      { enum: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
      0,
      'expected one of 1, 2, 3, 4, 5, 6, 7, 8 (and 2 more), got the number 0',
    ],
    [{ minimum: 3 }, 1, 'must be at least 3, got 1'],
    [{ maximum: 3 }, 4, 'must be at most 3, got 4'],
    [{ exclusiveMinimum: 3 }, 3, 'must be greater than 3, got 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3, got 3'],
    [{ multipleOf: 2 }, 3, 'must be a multiple of 2, got 3'],
    [{ minLength: 1 }, '', 'must have at least 1 character, got 0'],
    [{ maxLength: 2 }, '😀😀😀', 'must have at most 2 characters, got 3'],
    [{ pattern: '^a$' }, 'b', 'must match the pattern ^a$, got the string "b"'],
    [{ format: 'email' }, 'b', 'expected an email address, got the string "b"'],
    [{ type: 'string', format: 'date' }, 5, 'expected a date like 2025-01-31, got the number 5'],
    [{ format: 'url' }, 'b', 'expected an absolute URI, got the string "b"'],
    [{ format: 'json-pointer' }, 'b', 'expected a string in the format json-pointer, got the string "b"'],
    [{ minItems: 1 }, [], 'must have at least 1 item, got 0'],
    [{ maxItems: 1 }, [1, 2], 'must have at most 1 item, got 2'],
    [{ uniqueItems: true }, [1, 1], 'has the same item more than once'],
    [{ contains: { type: 'number' } }, ['a'], 'must contain a number'],
    [{ contains: { minimum: 5 } }, [], 'must contain a matching item'],
    [{ contains: { type: 'number' }, minContains: 2 }, [1, 'a'], 'must contain at least 2 matching items'],
    [{ contains: { type: 'number' }, maxContains: 1 }, [1, 2], 'must contain at most 1 matching item'],
    [{ minProperties: 1 }, {}, 'must have at least 1 field, got 0'],
    [{ maxProperties: 1 }, { a: 1, b: 1 }, 'must have at most 1 field, got 2'],
    [{ not: { type: 'number' } }, 5, 'has a value that is not allowed'],
    [false, 5, 'this field is not allowed here'],
    [{ not: {} }, 5, 'this field is not allowed here'],
  ])('describes %j', (schema, value, words) => {
    expect(field(schema, value)).toBe(`x: ${words}. Valid fields: x.`);
  });

  it.each([
    ['a root of the wrong type', { type: 'object' }, 5, 'expected an object, got the number 5.'],
    ['items that are one too many', { prefixItems: [{}], items: false }, [1, 2], '[1]: one item too many.'],
    [
      'a name that is not allowed',
      { propertyNames: { pattern: '^a' } },
      { b: 1 },
      'b: the field\'s name must match the pattern ^a, got the string "b".',
    ],
    [
      'a field that another needs',
      { dependentRequired: { a: ['b'], c: ['d'] } },
      { a: 1 },
      'b: required when "a" is given, missing.',
    ],
    [
      'the same in draft-07',
      { dependencies: { a: ['b'], c: { type: 'object' } } },
      { a: 1 },
      'b: required when "a" is given, missing.',
    ],
    [
      'a shape that another field needs',
      { dependentSchemas: { a: { required: ['b'] } } },
      { a: 1 },
      'b: required, missing.',
    ],
    [
      'a condition',
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      { a: 1 },
      'b: required, missing.',
    ],
    [
      'unevaluated fields',
      { properties: { a: {} }, unevaluatedProperties: false },
      { b: 1 },
      'b: unknown field. Valid fields: a.',
    ],
    [
      'both parts of an allOf once',
      { allOf: [{ required: ['a'] }, { required: ['a'] }] },
      {},
      'a: required, missing.',
    ],
    [
      'a pattern for names',
      { patternProperties: { '^n': { type: 'number' } } },
      { n: 'x' },
      'n: expected a number, got the string "x".',
    ],
    ['nothing allowed', { type: 'object', not: {} }, {}, 'no value is allowed.'],
    [
      'a required union behind a reference',
      {
        required: ['a'],
        properties: { a: { $ref: '#/$defs/u' } },
        $defs: { u: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
      },
      {},
      'a: required (a number or null), missing. Valid fields: a.',
    ],
    [
      'a required combination',
      { required: ['a'], properties: { a: { allOf: [{ minLength: 1 }, { type: 'string' }] } } },
      {},
      'a: required (a string), missing. Valid fields: a.',
    ],
  ])('describes %s', (_name, schema, value, words) => {
    expect(explanation(schema, value)).toBe(words);
  });
});

describe('an explanation of a union', () => {
  const circle = {
    type: 'object',
    properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
    required: ['kind', 'radius'],
  };
  const square = {
    type: 'object',
    properties: { kind: { const: 'square' }, side: { type: 'number' } },
    required: ['kind', 'side'],
  };
  const shape = { oneOf: [circle, { $ref: '#/$defs/square' }], $defs: { square } };
  const zodShape = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number() }),
    z.object({ kind: z.literal('square'), side: z.number() }),
  ]);
  it.each([
    ['JSON Schema', shape],
    ['zod', zodShape],
  ])('names the discriminators, or the problem in the branch that was meant (%s)', (_name, schema) => {
    expect(explanation(schema, { kind: 'star' })).toMatch(
      /^kind: expected one of "circle", "square", got the string "star"\./,
    );
    expect(explanation(schema, {})).toMatch(/^kind: required \(one of "circle", "square"\), missing\./);
    expect(explanation(schema, { kind: 'square', side: 'x' })).toBe(
      'side: expected a number, got the string "x". Valid fields: kind, side.',
    );
    expect(explanation(schema, { kind: 'circle' })).toBe(
      'radius: required (a number), missing. Valid fields: kind, radius.',
    );
  });
  it('names the alternatives by type', () => {
    const schema = { anyOf: [{ type: 'number' }, { type: 'null' }, { type: 'integer' }] };
    expect(field(schema, 'x')).toBe(
      'x: expected a number or null or an integer, got the string "x". Valid fields: x.',
    );
    expect(field({ anyOf: [{ minimum: 5 }, { maximum: 1 }] }, 3)).toContain(
      'x: expected one of 2 alternatives, got the number 3',
    );
  });
  it('names the alternatives by required fields', () => {
    const schema = { anyOf: [{ required: ['city'] }, { allOf: [{ required: ['lat', 'lon'] }] }] };
    expect(explanation(schema, {})).toBe('fits none of 2 alternatives: { city } or { lat, lon }.');
    const four = { anyOf: ['a', 'b', 'c', 'd'].map((name) => ({ required: [name] })) };
    expect(explanation(four, {})).toBe('fits none of 4 alternatives: { a } or { b } or { c } or { d }.');
    const six = { anyOf: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ required: [name] })) };
    expect(explanation(six, {})).toContain(
      'fits none of 6 alternatives: { a } or { b } or { c } or { d } or 2 more.',
    );
    expect(
      explanation(
        { anyOf: [{ minProperties: 1 }, { maxProperties: 0, minProperties: 1 }, { required: ['a'] }] },
        {},
      ),
    ).toContain('another shape or another shape or { a }');
  });
  it('reports that too many alternatives match', () => {
    expect(explanation({ oneOf: [{ type: 'object' }, {}, { required: ['a'] }] }, {})).toBe(
      'fits 2 of 3 alternatives, must fit exactly one.',
    );
  });
  it('in an array refers to the item', () => {
    const list = { type: 'object', properties: { shapes: { items: { oneOf: [circle, square] } } } };
    const value = {
      shapes: [
        { kind: 'circle', radius: true },
        { kind: 'square', side: 1 },
        { kind: 'square', side: null },
      ],
    };
    expect(explanation(list, value)).toBe(
      'shapes[0].radius: expected a number, got true; shapes[2].side: expected a number, got null. Valid fields of shapes[0]: kind, radius.',
    );
  });
});

describe('a problem that only the schema library finds', () => {
  it("is reported in the library's words", () => {
    const schema = z.object({ n: z.number().refine((n) => n !== 13, 'must not be\nunlucky'), m: z.number() });
    expect(explanation(schema, { n: 13, m: 1 })).toBe('n: must not be unlucky. Valid fields: n, m.');
    expect(explanation(schema, { n: 13, m: 'x' })).toBe(
      'n: must not be unlucky; m: expected a number, got the string "x". Valid fields: n, m.',
    );
    const even = v.object({
      n: v.pipe(
        v.number(),
        v.check((n) => n % 2 === 0, 'must be even!'),
      ),
    });
    const paired = withJsonSchema(even, toJsonSchema(even, { errorMode: 'ignore' }));
    expect(explanation(paired, { n: 3 })).toBe('n: must be even! Valid fields: n.');
  });
  it('is reported at the root too', () => {
    const schema = z
      .object({ a: z.number(), b: z.number() })
      .refine(({ a, b }) => a < b, 'a must be less than b');
    expect(explanation(schema, { a: 2, b: 1 })).toBe('a must be less than b. Valid fields: a, b.');
  });
  it('is reported in general words if there are no issues', () => {
    const compiled = compileSchema(pair, { io: 'input' });
    expect(explain([], compiled, { a: 1, b: 2 })).toBe('The value does not match the schema.');
  });
});

describe('the limits of an explanation', () => {
  it('allow at most five problems', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const schema = {
      properties: Object.fromEntries(names.map((name) => [name, { type: 'null' }])),
      required: names,
    };
    const text = explanation(schema, {});
    expect(text.match(/missing/g)).toHaveLength(5);
    expect(text).toContain('; and 2 more problems. Valid fields: a, b, c, d, e, f, g.');
    expect(explanation(schema, { a: null })).toContain('; and 1 more problem.');
  });
  it('allow at most 60 characters of a value', () => {
    const secret = 'abc '.repeat(100);
    const excerpt = /got the string (".*")\. Valid/.exec(field({ type: 'number' }, secret))?.[1] ?? '';
    expect(excerpt.length).toBeLessThanOrEqual(60);
    expect(excerpt.startsWith('"abc abc')).toBe(true);
    const quotes = field({ type: 'number' }, '"'.repeat(500));
    expect(quotes.length).toBeLessThan(120);
  });
  it('allow valid fields only as far as there is room', () => {
    const names = Array.from({ length: 100 }, (_, i) => `field${i}`);
    const schema = {
      properties: Object.fromEntries(names.map((name) => [name, {}])),
      additionalProperties: false,
    };
    expect(explanation(schema, { other: 1 })).toMatch(
      /^other: unknown field\. Valid fields: field0, .* \(and \d+ more\)\.$/,
    );
  });
  it('allow at most 620 characters and no control characters, whatever the input', () => {
    const long = 'n'.repeat(300);
    const strict = {
      type: 'object',
      properties: {
        [long]: { enum: Array.from({ length: 50 }, (_, i) => `${i}${long}`) },
        b: { pattern: long },
        c: pair,
      },
      required: [long, 'b', 'c'],
      additionalProperties: false,
    };
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue({ stringUnit: 'binary' }),
          fc.record(
            { [long]: fc.string(), b: fc.string({ unit: 'binary' }), c: fc.jsonValue() },
            { requiredKeys: [] },
          ),
          fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        ),
        (value) => {
          const compiled = compileSchema(strict, { io: 'input' });
          const checked = compiled.validate(value);
          if (checked instanceof Promise || checked.ok) throw new Error('was accepted');
          const text = explain(checked.issues, compiled, value);
          expect(text.length).toBeLessThanOrEqual(620);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not come through
          expect(text).not.toMatch(/[\u0000-\u001f]/);
        },
      ),
    );
  });
  it('apply to __proto__ and constructor as to any other name', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"number"}},"required":["__proto__","constructor"],"additionalProperties":false}',
    );
    expect(explanation(schema, JSON.parse('{"__proto__":"x","toString":1}'))).toBe(
      '__proto__: expected a number, got the string "x"; constructor: required, missing; toString: unknown field. Valid fields: __proto__.',
    );
  });
});
