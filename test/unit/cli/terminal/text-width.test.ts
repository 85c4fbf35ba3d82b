import { expect, test } from 'vitest';
import { tableOf } from '../../../../src/cli/results/table.js';
import { cutToWidth, widthOf } from '../../../../src/cli/terminal/text-width.js';
import { wrapLine } from '../../../../src/cli/terminal/wrap.js';

test.each([
  ['plain', 5],
  ['naïve…', 6],
  ['\u001b[1mbold\u001b[22m', 4],
  ['漢字', 4],
  ['ｆｕｌｌ', 8],
  ['한국어', 6],
  ['👍 ok', 5],
  ['👩‍👩‍👧‍👦', 2],
  ['e\u0301', 1],
])('the text %j takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test('a line is cut where it fits, and never inside of a character', () => {
  expect(cutToWidth('plain', 5)).toBe('plain');
  expect(cutToWidth('plainer', 5)).toBe('plai…');
  expect(cutToWidth('漢字漢字', 6)).toBe('漢字…');
  expect(cutToWidth('漢字漢字', 8)).toBe('漢字漢字');
  expect(cutToWidth('a👩‍👩‍👧‍👦b', 3)).toBe('a…');
});

test('the columns of a table are aligned, whatever the width of their characters', () => {
  const table = tableOf([
    { name: 'ロープ', price: 12.5 },
    { name: 'Lamp', price: 9 },
  ]);
  expect(table?.split('\n').map((line) => widthOf(line))).toEqual([13, 13, 13]);
});

test('lines are broken by the columns that they take', () => {
  const wrapped = wrapLine('漢字漢字 漢字漢字 漢字漢字 漢字漢字', 20, '');
  expect(wrapped).toBe('漢字漢字 漢字漢字\n漢字漢字 漢字漢字');
});
