import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withObject, withoutObject } from '../../../../src/legacy/shapes/structured.js';

describe('structured content', () => {
  it.each<[what: string, given: object, older: object]>([
    ['an object', { structuredContent: { a: 1 } }, { structuredContent: { a: 1 } }],
    [
      'a list',
      { structuredContent: [1] },
      { structuredContent: { result: [1] }, _meta: { 'fullmcp/structured': 'wrapped' } },
    ],
    [
      'null, beside metadata',
      { structuredContent: null, _meta: { own: 1 } },
      { structuredContent: { result: null }, _meta: { own: 1, 'fullmcp/structured': 'wrapped' } },
    ],
    ['none', {}, {}],
  ])('that is %s becomes an object', (_, given, older) => {
    const content = [{ type: 'text', text: 'a' }];
    expect(withObject({ content, ...given })).toEqual({ content, ...older });
  });

  it('is made from text that parses as JSON', () => {
    const content = [{ type: 'text', text: '7' }];
    expect(withObject({ content })).toEqual({
      content,
      structuredContent: { result: 7 },
      _meta: { 'fullmcp/structured': 'parsed' },
    });
  });

  it('is restored to any original value', () => {
    const text = fc.oneof(fc.string(), fc.json(), fc.integer().map(String));
    const result = fc.record(
      {
        content: fc.array(
          text.map((said) => ({ type: 'text', text: said })),
          { maxLength: 2 },
        ),
        structuredContent: fc.jsonValue(),
        _meta: fc.constant({ 'com.example/own': 1 }),
      },
      { requiredKeys: ['content'] },
    );
    fc.assert(
      fc.property(result, (given) => {
        expect(withoutObject(JSON.parse(JSON.stringify(withObject(given))))).toEqual(
          JSON.parse(JSON.stringify(given)),
        );
      }),
    );
  });

  it('is read safely from a peer that sends odd values', () => {
    for (const structuredContent of [undefined, null, 3, 'x', []])
      expect(withoutObject({ structuredContent, _meta: { 'fullmcp/structured': 'wrapped' } })).toEqual({});
    expect(withoutObject({ structuredContent: { a: 1 }, _meta: 7 })).toEqual({
      structuredContent: { a: 1 },
      _meta: 7,
    });
  });
});
