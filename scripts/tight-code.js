// Makes code shorter without changing what it does.
import { minifySync } from 'rolldown/utils';
import { tokenize } from './scan.js';

/** @typedef {import('./scan.js').Token} Token */

/**
 * Code without the white space that it does not need. Its lines stay, so that stack traces name the same ones.
 * @param {string} code
 */
export function tightLines(code) {
  let tight = '';
  let end = 0;
  /** @type {Token | undefined} */
  let before;
  for (const token of tokenize(code)) {
    const gap = code.slice(end, token.start);
    tight += before === undefined || !mayShrink(gap) ? gap : shrunk(gap, code[end - 1], code[token.start]);
    tight += code.slice(token.start, token.end);
    before = token;
    end = token.end;
  }
  tight += code.slice(end);
  if (onOneLine(tight) !== onOneLine(code))
    throw new Error('The code would not be the same without its white space.');
  return tight;
}

/**
 * Code on one line; with `shortNames`, everything that it declares gets a short name.
 * @param {string} code
 * @param {boolean} [shortNames]
 */
export function onOneLine(code, shortNames = false) {
  const { code: minified, errors } = minifySync('chunk.js', code, {
    module: true,
    compress: shortNames,
    mangle: shortNames && { toplevel: true },
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`The code cannot be read: ${errors[0]?.message}`);
  return minified;
}

/** @param {string} gap A gap with a comment stays as it is. */
function mayShrink(gap) {
  return gap !== '' && !/\S/.test(gap);
}

/** @param {string} gap @param {string} [left] @param {string} [right] */
function shrunk(gap, left = '', right = '') {
  const lines = gap.split('\n').length - 1;
  if (lines > 0) return '\n'.repeat(lines);
  const isWord = /[\p{ID_Continue}$#@]/u;
  const areWords = isWord.test(left) && (isWord.test(right) || right === '.');
  return areWords || (left === right && '+-/'.includes(left)) ? ' ' : '';
}
