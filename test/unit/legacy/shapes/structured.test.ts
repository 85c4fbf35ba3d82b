import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withObject, withoutObject } from '../../../../src/legacy/shapes/structured.js';

describe('structured content', () => {
  it.each<[what: string, newer: object, older: object]>([
    ['an object', { structuredContent: { a: 1 } }, { structuredContent: { a: 1 } }],
    [
      'an array',
      { structuredContent: [1] },
      { structuredContent: { result: [1] }, _meta: { 'fullmcp/structured': 'wrapped' } },
    ],
    [
      'null, beside metadata',
      { structuredContent: null, _meta: { own: 1 } },
      { structuredContent: { result: null }, _meta: { own: 1, 'fullmcp/structured': 'wrapped' } },
    ],
    ['absent', {}, {}],
  ])('that is %s is an object or absent in older revisions', (_, newer, older) => {
    const content = [{ type: 'text', text: 'a' }];
    expect(withObject({ content, ...newer })).toEqual({ content, ...older });
  });

  it('is made from text content that is JSON', () => {
    const content = [{ type: 'text', text: '7' }];
    expect(withObject({ content })).toEqual({
      content,
      structuredContent: { result: 7 },
      _meta: { 'fullmcp/structured': 'parsed' },
    });
  });

  it('is restored to the original, whatever that is', () => {
    const text = fc.oneof(fc.string(), fc.json(), fc.integer().map(String));
    const result = fc.record(
      {
        content: fc.array(
          text.map((words) => ({ type: 'text', text: words })),
          { maxLength: 2 },
        ),
        structuredContent: fc.jsonValue(),
        _meta: fc.constant({ 'com.example/own': 1 }),
      },
      { requiredKeys: ['content'] },
    );
    fc.assert(
      fc.property(result, (original) => {
        expect(withoutObject(JSON.parse(JSON.stringify(withObject(original))))).toEqual(
          JSON.parse(JSON.stringify(original)),
        );
      }),
    );
  });

  it('that is marked as wrapped but is not an object is dropped, and metadata that is not an object does no harm', () => {
    for (const structuredContent of [undefined, null, 3, 'x', []])
      expect(withoutObject({ structuredContent, _meta: { 'fullmcp/structured': 'wrapped' } })).toEqual({});
    expect(withoutObject({ structuredContent: { a: 1 }, _meta: 7 })).toEqual({
      structuredContent: { a: 1 },
      _meta: 7,
    });
  });
});
