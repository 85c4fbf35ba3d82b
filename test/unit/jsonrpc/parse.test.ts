import { describe, expect, it } from 'vitest';
import {
  findFault,
  isDeeperThan,
  parseJson,
  parseStrictly,
  RefusedJson,
} from '../../../src/jsonrpc/parse.js';

describe('parsing', () => {
  it.each([parseStrictly, parseJson])(
    'returns the value, and rejects a string that is not JSON: %o',
    (parse) => {
      expect(parse('{"a":[1]}', 2)).toEqual({ a: [1] });
      expect(parse('{"a":', 2)).toMatchObject({
        fault: 'syntax',
        value: undefined,
        cause: expect.any(SyntaxError),
      });
      expect(parse(`{"a":${'['.repeat(500)}`, 2)).toMatchObject({ fault: 'syntax' });
    },
  );

  it.each([parseStrictly, parseJson])(
    'rejects a value that nests too deep, and returns it with the fault: %o',
    (parse) => {
      const text = '[[[]]]';
      expect(parse(text, 3)).toEqual([[[]]]);
      expect(parse(text, 2)).toEqual(new RefusedJson('deep', [[[]]]));
    },
  );

  it('rejects a number that is too large if it is strict, and accepts it otherwise', () => {
    expect(parseStrictly('[1e400]', 2)).toEqual(new RefusedJson('infinite', [Number.POSITIVE_INFINITY]));
    expect(parseJson('[1e400]', 2)).toEqual([Number.POSITIVE_INFINITY]);
  });
});

describe('isDeeperThan', () => {
  it.each([
    ['[]', 1],
    ['{}', 1],
    ['{"a":1,"b":null,"c":"x"}', 1],
    ['[[],[[]],[]]', 3],
    ['{"a":{"b":[{"c":null}]}}', 4],
    ['{"__proto__":{"a":{}}}', 3],
  ])('finds that %s has depth %i', (json, depth) => {
    const value: unknown = JSON.parse(json);
    expect(isDeeperThan(value, depth)).toBe(false);
    expect(isDeeperThan(value, depth - 1)).toBe(true);
  });

  it('does not count a scalar as a level', () => {
    for (const scalar of [1, null, 'text', true]) expect(isDeeperThan(scalar, 0)).toBe(false);
  });

  it('never overflows, whatever the value and the limit', () => {
    const array: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    const object: unknown = JSON.parse('{"a":'.repeat(200_000) + 1 + '}'.repeat(200_000));
    for (const value of [array, object]) {
      expect(isDeeperThan(value, 64)).toBe(true);
      expect(isDeeperThan(value, Number.POSITIVE_INFINITY)).toBe(true);
    }
  });

  it('finds the deep item among many flat ones', () => {
    const flat = Array.from({ length: 1000 }, () => ({ a: 1 }));
    expect(isDeeperThan(flat, 2)).toBe(false);
    expect(isDeeperThan([...flat, { a: { b: 1 } }], 2)).toBe(true);
  });
});

describe('findFault', () => {
  const hasInfinite = (text: string): boolean => findFault(JSON.parse(text), 128) === 'infinite';

  it.each(
    [
      '1e400',
      '-1E+400',
      '[1,{"a":{"b":[1e0309]}}]',
      '1'.repeat(310),
      `[${'9'.repeat(250)}e99]`,
      `{"a":"${'x'.repeat(500)}","b":${'7'.repeat(400)}.5}`,
    ].map((text) => [text.slice(0, 30), text]),
  )('finds a number that is too large in %s', (_start, text) => {
    expect(hasInfinite(text)).toBe(true);
  });

  it.each(
    ['1e308', '1e-400', '"1e400"', `"${'1'.repeat(400)}"`, '1'.repeat(300), `0.${'1'.repeat(500)}`].map(
      (text) => [text.slice(0, 30), text],
    ),
  )('accepts %s', (_start, text) => {
    expect(hasInfinite(text)).toBe(false);
  });

  it('finds an infinite number wherever it stands among others', () => {
    for (let before = 0; before < 450; before += 7) {
      expect(hasInfinite(`["${'x'.repeat(before)}",${'3'.repeat(310)}]`)).toBe(true);
      expect(hasInfinite(`["${'x'.repeat(before)}",${'3'.repeat(190)},${'4'.repeat(190)}]`)).toBe(false);
    }
  });
});
