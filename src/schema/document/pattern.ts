// Reads `pattern`, which JSON Schema defines as a Unicode regular expression.

import { SchemaError } from './schema-error.js';

/**
 * Returns the pattern as the source of a Unicode regular expression. Libraries pass on the source of expressions written
 * without the `u` flag, where the escapes `\-` and `\_` are common; such escapes are removed. Throws `SchemaError` if the result
 * still does not compile.
 */
export function unicodePattern(pattern: string, where: string): string {
  if (compiles(pattern)) return pattern;
  const repairedPattern = withoutNeedlessEscapes(pattern);
  if (compiles(repairedPattern)) return repairedPattern;
  throw new SchemaError(
    `The pattern ${JSON.stringify(pattern)} at ${where} is not a valid regular expression (ECMAScript with the u flag); correct it.`,
  );
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

const SYNTAX = '^$\\.*+?()[]{}|/';

function withoutNeedlessEscapes(pattern: string): string {
  let text = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    const next = pattern.charAt(i + 1);
    if (char === '\\') {
      i++;
      const isNeedless = !SYNTAX.includes(next) && !isWordCharacter(next) && !(inClass && next === '-');
      text += isNeedless || next === '_' ? next : char + next;
      continue;
    }
    // `[\w-.]`: the dash cannot mean a range, because there is a class escape on one side of it.
    const afterEscape = inClass && char === '-' && isClassEscape(text.slice(-2));
    const beforeEscape = inClass && char === '-' && isClassEscape(pattern.slice(i + 1, i + 3));
    text += (afterEscape || beforeEscape) && next !== ']' ? '\\-' : char;
    if (char === '[') inClass = true;
    if (char === ']') inClass = false;
  }
  return text;
}

function isWordCharacter(char: string): boolean {
  return /^\w$/.test(char);
}

function isClassEscape(text: string): boolean {
  return /^\\[wWdDsS]$/.test(text);
}
