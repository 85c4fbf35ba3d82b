import { describe, expect, test } from 'vitest';
import { compareTexts, resultOf } from '../../../inspector/places/compare/compare-texts.js';

describe('two values that are compared', () => {
  test('are equal whatever the order of their fields, and JSON in a string is read', () => {
    const one = { b: 1, a: { d: [1, 2], c: '{"x":1,"y":2}' } };
    const other = { a: { c: '{"y":2, "x":1}', d: [1, 2] }, b: 1 };
    expect(compareTexts(one, other)).toMatchObject({ isEqual: true, fresh: [] });
    expect(compareTexts([1, 2], [2, 1]).isEqual).toBe(false);
  });

  test('keep a time that both have, and set apart those that differ', () => {
    const [early, late] = ['2026-11-18T10:00:00Z', '2026-11-18T11:00:00Z'];
    const same = compareTexts({ born: early, n: 1 }, { born: early, n: 2 });
    expect(same.before).toContain(early);
    const fresh = compareTexts(
      { at: `done ${early}`, ms: 3, size: 3 },
      { at: `done ${late}`, ms: 4, size: 3 },
    );
    expect(fresh).toMatchObject({
      isEqual: true,
      fresh: [
        { path: 'at', before: `done ${early}`, after: `done ${late}` },
        { path: 'ms', before: '3', after: '4' },
      ],
    });
    // A number that only looks like one is compared.
    expect(compareTexts({ size: 3 }, { size: 4 }).isEqual).toBe(false);
  });

  test('have a line for each line and each sentence of a long string', () => {
    const text = Array.from({ length: 40 }, (_, at) => `Sentence ${at} of the text.`).join(' ');
    const { before, after } = compareTexts({ text }, { text: text.replace('Sentence 7', 'Another 7') });
    const [old, now] = [before.split('\n'), after.split('\n')];
    expect(old.filter((line, at) => line !== now[at])).toEqual(['    Sentence 7 of the text.']);
    expect(old.length).toBe(now.length);
  });

  test('may be deep, long and empty', () => {
    let deep: unknown = 1;
    for (let at = 0; at < 5000; at++) deep = [deep];
    expect(compareTexts(deep, deep).isEqual).toBe(true);
    expect(compareTexts('x'.repeat(100_000), 'x'.repeat(100_001)).isEqual).toBe(false);
    expect(compareTexts({}, []).isEqual).toBe(false);
    expect(compareTexts(undefined, undefined).isEqual).toBe(true);
  });

  test('are results without the way in which they were carried', () => {
    const old = { content: [{ type: 'text', text: 'hi' }] };
    const now = { ...old, resultType: 'complete', _meta: { 'x/y': 1 } };
    expect(compareTexts(resultOf(old), resultOf(now)).isEqual).toBe(true);
    expect(compareTexts(resultOf({ ...old, isError: true }), resultOf(now)).isEqual).toBe(false);
  });
});
