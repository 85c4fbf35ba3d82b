import { describe, expect, it } from 'vitest';
import { accepts } from '../../../../src/schema/check/validator.js';
import { compileSchema } from '../../../../src/schema/compile.js';
import { readDocument } from '../../../../src/schema/document/document.js';
import { formats } from '../../../../src/schema/document/keywords.js';
import { explain } from '../../../../src/schema/explain/explain.js';
import { jsonSchema } from '../../../../src/schema/schema.js';
import { growth } from '../../../support/growth.js';

const valid = (schema: unknown, value: unknown): boolean => accepts(readDocument(schema), value);

/** A schema whose field mentions a definition twice. */
const twice = (field: string, name: string): object => {
  const reference = { $ref: `#/$defs/${name}` };
  return { properties: { [field]: { allOf: [reference, reference] } } };
};
const levels = (count: number): readonly string[] => [...Array(count).keys()].map(String);
const nested = (depth: number, end: unknown): unknown => (depth === 0 ? end : { a: nested(depth - 1, end) });

describe('the schema of a validator', () => {
  it('may be frozen, and is neither changed nor depended on', () => {
    const properties: Record<string, unknown> = { a: Object.freeze({ $ref: '#/$defs/n' }) };
    const schema = {
      type: 'object',
      properties,
      $defs: Object.freeze({ n: Object.freeze({ type: 'number' }) }),
    };
    const before = JSON.stringify(schema);
    const compiled = compileSchema(Object.freeze(schema), { io: 'input' });
    expect(JSON.stringify(schema)).toBe(before);
    expect(Reflect.ownKeys(properties['a'] as object)).toEqual(['$ref']);
    properties['a'] = {};
    expect(compiled.validate({ a: 'x' })).toMatchObject({ ok: false });
  });
  it('may use one object in many places', () => {
    const n = { type: 'number' };
    expect(valid({ properties: { a: n, b: { items: n } } }, { a: 1, b: [2] })).toBe(true);
  });
  it('may leave keywords undefined', () => {
    expect(valid({ type: undefined, properties: { a: undefined, b: { const: 1 } } }, { a: 1, b: 1 })).toBe(
      true,
    );
  });
});

describe("the fields of a peer's value", () => {
  const schema = JSON.parse(
    '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"number"}},"required":["constructor"],"additionalProperties":false}',
  );
  it('may have any names, such as __proto__', () => {
    expect(valid(schema, JSON.parse('{"__proto__":1,"constructor":2}'))).toBe(true);
    expect(valid(schema, JSON.parse('{"__proto__":"1","constructor":2}'))).toBe(false);
    expect(valid(schema, {})).toBe(false);
    expect(valid(schema, { constructor: 1, toString: 1 })).toBe(false);
  });
  it('may be broken Unicode, which is rejected without an exception', () => {
    const compiled = compileSchema({ additionalProperties: { type: 'number' } }, { io: 'input' });
    const value = { '\ud800': 'x' };
    const checked = compiled.validate(value);
    expect(checked).toEqual({ ok: false, issues: [{ path: [], message: 'does not match the schema' }] });
    expect(explain([{ path: [], message: 'does not match the schema' }], compiled, value)).toBe(
      'does not match the schema.',
    );
    expect(jsonSchema({ additionalProperties: { type: 'number' } })['~standard'].validate(value)).toEqual({
      issues: [{ message: 'does not match the schema' }],
    });
  });
  it('may be nested deeper than the stack, which is rejected without an exception', () => {
    let value: unknown = 1;
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(valid({ items: { $ref: '#' } }, value)).toBe(false);
  });
  it.each([
    ['in one definition', { n: twice('a', 'n') }],
    ['in each of many', Object.fromEntries(levels(60).map((at) => [at, twice('a', `${Number(at) + 1}`)]))],
  ])('may double the checks with each level, which ends them: %s', (_name, $defs) => {
    const [root = ''] = Object.keys($defs);
    const schema = { $ref: `#/$defs/${root}`, $defs: { 60: {}, ...$defs } };
    expect(valid(schema, nested(6, 1))).toBe(true);
    expect(valid(schema, nested(50, 1))).toBe(false);
    const compiled = compileSchema({ ...schema, type: 'object' }, { io: 'input' });
    const value = nested(50, '1');
    const checked = compiled.validate(value);
    expect(checked).toEqual({ ok: false, issues: [{ path: [], message: 'does not match the schema' }] });
    expect(explain([{ path: [], message: 'does not match the schema' }], compiled, value)).toBeDefined();
  });
  it('may need a reference for each of many items', () => {
    const schema = { items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'number' } } };
    expect(valid(schema, levels(250_000).map(Number))).toBe(true);
  });
  it.each([
    ['unknown fields', { additionalProperties: false }, (n: number) => wide(n, 1)],
    [
      'fields of no alternative',
      { additionalProperties: { anyOf: [{ type: 'null' }, { required: ['a'] }] } },
      (n: number) => wide(n / 10, {}),
    ],
    [
      'items',
      { items: { oneOf: [{ const: 1 }, { const: 2 }] } },
      (n: number) => Array.from({ length: n }, () => 3),
    ],
  ])('may have any number of problems, of which at most 25 are collected: %s', (_name, schema, make) => {
    const compiled = compileSchema({ properties: { a: schema } }, { io: 'input' });
    const issuesOf = (value: object) => {
      const checked = compiled.validate(value);
      if (checked instanceof Promise || checked.ok) throw new Error('was accepted');
      return checked.issues;
    };
    expect(issuesOf({ a: make(150_000) }).length).toBeLessThanOrEqual(25);
    const some = { a: make(10_000) };
    expect(explain(issuesOf(some), compiled, some)).toContain('and at least 20 more problems');
  });
});

function wide(count: number, field: unknown): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, field]));
}

describe('the formats of strings', () => {
  const examples: Readonly<Record<string, readonly [string, string]>> = {
    date: ['2025-01-31', '2025-02-31'],
    time: ['13:45:00Z', '25:00:00Z'],
    'date-time': ['2025-01-31T13:45:00Z', 'yesterday'],
    duration: ['PT1H', '1H'],
    uri: ['https://example.com/a', 'a b'],
    'uri-reference': ['/a', '\\'],
    'uri-template': ['/a/{b}', '/a/{'],
    url: ['https://example.com/a', 'example'],
    email: ['a@example.com', 'a'],
    hostname: ['example.com', '-'],
    ipv4: ['127.0.0.1', '256.0.0.1'],
    ipv6: ['::1', 'x'],
    regex: ['^a$', '('],
    uuid: ['123e4567-e89b-12d3-a456-426614174000', 'x'],
    'json-pointer': ['/a', 'a'],
    'json-pointer-uri-fragment': ['#/a', 'a'],
    'relative-json-pointer': ['1/a', 'a'],
  };
  it('have one example each in this test', () => {
    expect(Object.keys(examples).sort()).toEqual([...formats.keys()].sort());
  });
  it.each(Object.entries(examples))('are checked: %s', (format, [right, wrong]) => {
    expect(valid({ format }, right)).toBe(true);
    expect(valid({ format }, wrong)).toBe(false);
  });
  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'color'])(
    'are only annotations if they are unknown: %s',
    (format) => {
      expect(valid({ format }, 'x')).toBe(true);
    },
  );
  it('include url, which is checked without exponential time', () => {
    expect(valid({ format: 'url' }, `http://${'a'.repeat(60)}!`)).toBe(true);
    const host = (length: number): string => `http://${'a'.repeat(length)} `;
    expect(growth((url) => valid({ format: 'url' }, url), host(5000), host(50_000))).toBeLessThan(40);
  });
});

it('uniqueItems rejects a hundred thousand items instead of comparing them with each other', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => i);
  expect(valid({ uniqueItems: true, maxItems: 200_000 }, items.slice(0, 1000))).toBe(true);
  expect(valid({ uniqueItems: true, maxItems: 3 }, [1, 2, 3, 4])).toBe(false);
  const compiled = compileSchema({ uniqueItems: true }, { io: 'output' });
  expect(compiled.validate(items)).toMatchObject({ ok: false });
  expect(compiled.json).toEqual({ uniqueItems: true });
});

describe('jsonSchema()', () => {
  it('is a Standard Schema that returns its own JSON Schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const props = jsonSchema<{ a?: number }>(schema)['~standard'];
    expect(props).toMatchObject({ version: 1, vendor: 'json-schema' });
    expect(props.jsonSchema.input({ target: 'draft-2020-12' })).toBe(schema);
    expect(props.jsonSchema.output({ target: 'draft-07' })).toBe(schema);
    expect(props.validate({ a: 1 })).toEqual({ value: { a: 1 } });
    expect(props.validate({ a: 'x' })).toEqual({
      issues: [{ path: ['a'], message: 'expected a number, got the string "x"' }],
    });
  });
});
