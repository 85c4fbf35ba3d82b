// Text of a server inside of source code: it is a string, a quoted key or a comment, and can never be anything else.

import { clean, cleanJson, cleanLine } from '../../../../tooling/clean.js';

const IDENTIFIER = /^[A-Za-z_$][\w$]{0,100}$/;
const MAX_COMMENT = 600;
const MAX_COMMENT_LINES = 12;

/** A JSON value as a literal of JavaScript. Characters that would be invisible or reorder the line are escaped. */
export function literal(value: unknown, indent = 0): string {
  return cleanJson(JSON.stringify(value, undefined, indent) ?? 'undefined');
}

/** A name as a key of a type or of an object. */
export function keyText(name: string): string {
  return IDENTIFIER.test(name) ? name : literal(name);
}

/** A doc comment with a line break at its end; empty if there is nothing to say. */
export function docComment(text: unknown, indent = ''): string {
  if (typeof text !== 'string' || text.trim() === '') return '';
  const start = text.length > MAX_COMMENT ? `${text.slice(0, MAX_COMMENT)}…` : text;
  const lines = clean(start)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_COMMENT_LINES)
    .map(inComment);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`, ''].join('\n');
}

/** The rest of a line comment. */
export function lineComment(text: string): string {
  return cleanLine(text, 120);
}

// A comment ends at its first `*/`, and a line that begins with @ is an instruction for tools.
function inComment(line: string): string {
  return line.replaceAll('*/', '*\\/').replace(/^@/, '\\@').replaceAll('@ts-', '@ ts-');
}

/** A name in `PascalCase` out of letters and digits alone, such as `MyShop`. */
export function typeName(name: string): string {
  const words = name.slice(0, 200).match(/[A-Za-z0-9]+/g) ?? [];
  const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
  return /^[A-Z]/.test(joined) ? joined.slice(0, 60) : `Server${joined.slice(0, 60)}`;
}
