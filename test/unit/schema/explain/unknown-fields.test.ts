import { describe, expect, it } from 'vitest';
import { unknownFields } from '../../../../src/schema/explain/unknown-fields.js';

const paths = (schema: unknown, value: unknown): readonly string[] =>
  unknownFields(schema, value).map(({ path }) => path.join('.'));

const from = { type: 'object', properties: { from: { type: 'number' } } };
const a = { type: 'object', properties: { a: {} } };
const b = { type: 'object', properties: { b: {} } };

describe('a field that a schema does not mention', () => {
  it('is found, with the name that was probably meant', () => {
    expect(unknownFields(from, { form: 3 })).toEqual([
      { path: ['form'], message: 'unknown field, did you mean "from"?' },
    ]);
    expect(unknownFields(from, { from: 3, other: 1 })).toEqual([
      { path: ['other'], message: 'unknown field' },
    ]);
  });

  it('is found inside objects, arrays and references', () => {
    const schema = {
      type: 'object',
      properties: { list: { type: 'array', items: { $ref: '#/$defs/item' } }, deep: from },
      $defs: { item: { ...from, properties: { ...from.properties, next: { $ref: '#/$defs/item' } } } },
    };
    expect(paths(schema, { list: [{ from: 1 }, { form: 1 }], deep: { form: 1 } })).toEqual([
      'list.1.form',
      'deep.form',
    ]);
    expect(paths(schema, { list: [{ from: 1, next: { form: 2 } }] })).toEqual(['list.0.next.form']);
  });

  it.each([
    ['is in a part of allOf', { allOf: [a, b] }],
    ['is in a branch of anyOf', { ...a, anyOf: [b, { type: 'null' }] }],
    ['is in a branch of oneOf', { oneOf: [a, b] }],
    ['is in a referenced schema', { ...a, $ref: '#/$defs/b', $defs: { b } }],
    ['is in a condition', { ...a, if: {}, else: b }],
    ['is in a dependent schema', { ...a, dependentSchemas: { a: b } }],
    ['is only required', { ...a, required: ['b'] }],
    ['is open by additionalProperties', { ...a, additionalProperties: true }],
    ['is open by a schema in additionalProperties', { ...a, additionalProperties: { type: 'number' } }],
    ['is open by unevaluatedProperties', { ...a, unevaluatedProperties: true }],
    ['matches a pattern', { ...a, patternProperties: { '^b$': {} } }],
    ['begins as a pattern says', { ...a, patternProperties: { '^b': {} } }],
    ['may match a pattern that is not run', { ...a, patternProperties: { '^(x+)+$': {} } }],
    ['is in an object without properties', { type: 'object' }],
    ['may be in a branch without properties', { anyOf: [a, { type: 'object' }] }],
    ['has a reference that cannot be followed', { ...a, $ref: 'https://example.com/b.json' }],
    ['has a reference to nothing', { ...a, $ref: '#/$defs/none' }],
    ['has a dynamic reference', { ...a, allOf: [{ $dynamicRef: '#b' }] }],
    ['is beside a schema that allows everything', { allOf: [a, true] }],
  ])('is allowed if it %s', (_, schema) => {
    expect(paths(schema, { a: 1, b: 2 })).toEqual([]);
  });

  it('is found beside plain patterns that it does not match, and inside a field that matches one', () => {
    const patterned = { ...a, patternProperties: { '^x-': from, '^y$': {} } };
    expect(paths(patterned, { a: 1, 'x-one': { from: 1 }, y: 1 })).toEqual([]);
    expect(paths(patterned, { a: 1, yy: 1, 'x-one': { form: 1 }, x: 1 })).toEqual(['yy', 'x-one.form', 'x']);
  });

  it('is found although the root of the schema has an id', () => {
    expect(paths({ $id: 'https://example.com/a.json', ...a }, { b: 1 })).toEqual(['b']);
  });

  it('is found in a schema that refers to itself, and a field with the name of a prototype is not known', () => {
    const loop = { type: 'object', properties: { a: { $ref: '#' } }, allOf: [{ $ref: '#' }] };
    expect(paths(loop, { a: { a: { b: 1 } } })).toEqual(['a.a.b']);
    expect(paths(a, JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual(['__proto__', 'constructor']);
  });
});
