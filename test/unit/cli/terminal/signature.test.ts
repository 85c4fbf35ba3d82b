import { expect, test } from 'vitest';
import { parameters, typeOf } from '../../../../src/cli/terminal/signature.js';

const a = { type: 'object', properties: { a: { type: 'string' } } };
const b = { type: 'object', properties: { b: { type: 'integer' } } };

test.each([
  [{ type: 'array', items: { anyOf: [a, b] } }, '({ a?: string } | { b?: int })[]'],
  [{ type: 'array', items: a }, '{ a?: string }[]'],
  [{ type: 'array', items: { anyOf: [a, a] } }, '({ a?: string })[]'],
  [{ type: 'array', items: { enum: ['x', 'y'] } }, '("x" | "y")[]'],
  [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
  [{ type: 'array', items: { type: 'string' } }, 'string[]'],
  [{ type: 'array' }, 'any[]'],
  [{}, 'any'],
  [true, 'any'],
])('the type of %j is printed as %s', (schema, printed) => {
  expect(typeOf(schema, {})).toBe(printed);
});

test('a type that is nested deeper than is shown ends with an ellipsis, and is not called any', () => {
  const nest = (depth: number): object =>
    depth === 0
      ? { type: 'string' }
      : { type: 'object', properties: { x: nest(depth - 1), s: { type: 'string' } } };
  expect(typeOf(nest(9), {})).toBe(
    '{ x?: { x?: { x?: { x?: …, s?: string }, s?: string }, s?: string }, s?: string }',
  );
  expect(parameters({ properties: { list: { type: 'array', items: nest(9) } } })).toBe(
    'list?: { x?: { x?: …, s?: string }, s?: string }[]',
  );
});
