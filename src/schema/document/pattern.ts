import { SchemaError } from './schema-error.js';

/**
 * The text of a `pattern` as a Unicode regular expression, which is what JSON Schema means. Libraries hand on
 * the source of expressions written without the `u` flag, where `\-` and `\_` are common; those are mended here.
 */
export function unicodePattern(pattern: string, where: string): string {
  if (compiles(pattern)) return pattern;
  const mended = withoutNeedlessEscapes(pattern);
  if (compiles(mended)) return mended;
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
      const needless = !SYNTAX.includes(next) && !isWordCharacter(next) && !(inClass && next === '-');
      text += needless || next === '_' ? next : char + next;
      continue;
    }
    // `[\w-.]`: a dash that cannot be a range, because a class escape is on one side of it.
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
