import { expect, test } from 'vitest';
import { quote, shorten } from '../../../../src/protocol/encoding/shorten.js';

test('a string that is not too long stays as it is', () => {
  expect(shorten('abcde', 5)).toBe('abcde');
});

test('a longer string is cut to the limit, and its last character is an ellipsis', () => {
  expect(shorten('abcdef', 5)).toBe('abcd…');
});

test.each([
  [{ toString: 1 }, '{"toString":1}'],
  [[1, 'b'], '[1,"b"]'],
  [null, 'null'],
  [undefined, 'undefined'],
])('the value %j, which is not a string, becomes JSON', (value, text) => {
  expect(shorten(value, 40)).toBe(text);
});

test('a quoted string is on one line, and the limit is for its own characters', () => {
  expect(quote('a\nb"c', 5)).toBe('"a\\nb\\"c"');
  expect(quote('a\nb"cd', 5)).toBe('"a\\nb\\"…"');
});
