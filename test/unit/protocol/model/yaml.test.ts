import { expect, test } from 'vitest';
import { readYaml } from '../../../../src/protocol/model/skills/yaml.js';

test.each([
  ['a: b', { a: 'b' }],
  ['a: "x\\n\\u00e9" # c', { a: 'x\né' }],
  ["a: 'it''s'", { a: "it's" }],
  ['a: plain\n  more\n\n  para', { a: 'plain more\npara' }],
  ['a: "two\n  lines"', { a: 'two lines' }],
  ['a: |\n  l1\n   l2\n\nb: 1', { a: 'l1\n l2\n', b: 1 }],
  ['a: >-\n  f1\n  f2\n\n  f3\n    more\n  f4', { a: 'f1 f2\nf3\n  more\nf4' }],
  ['a:\n- x\n- k: v\n  j: [1, "y", {z: ~}]', { a: ['x', { k: 'v', j: [1, 'y', { z: null }] }] }],
  ['a:\n  b:\n    c: true', { a: { b: { c: true } } }],
  [
    'a: 1.5\nb: -2\nc: 0x1F\nd: 2026-01-01\ne: yes\nf:',
    { a: 1.5, b: -2, c: 31, d: '2026-01-01', e: 'yes', f: null },
  ],
  ['url: https://x.y/z#a', { url: 'https://x.y/z#a' }],
  ['__proto__: 1', JSON.parse('{"__proto__": 1}')],
])('reads %j', (text, value) => {
  expect(readYaml(text, 1)).toEqual(value);
});

test.each([
  ['a: &x b', 1],
  ['a: b\nc: *x', 2],
  ['a: !!js/function x', 1],
  ['a: b: c', 1],
  ['a: b\na: c', 2],
  ['a: b\n\tc: d', 2],
  ['<<: {a: b}', 1],
  ['? a\n: b', 1],
  ['a: [1, 2', 1],
  ['a: "x', 1],
  ['a: .inf', 1],
  ['- a', 1],
  ['a: b\n   c: d', 2],
])('refuses %j', (text, line) => {
  expect(() => readYaml(text, 1)).toThrow(expect.objectContaining({ name: 'YamlError', line }));
});

test('nothing grows or recurses without limit', () => {
  for (const text of ['a: '.padEnd(16_000, '['), 'a: '.padEnd(16_000, '{a: '), `a:\n${'- '.repeat(8000)}`])
    expect(() => readYaml(text, 1)).toThrow(/nested more than 16/);
});
