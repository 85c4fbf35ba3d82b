// Finds the position at which a string stops being JSON. Runtimes report it in different ways, or not at all, and quote the string.

import { quote } from './shorten.js';

export interface JsonSyntaxFault {
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

const EXTRA_COMMA = 'there is one comma too many';
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** Finds the fault in a string that `JSON.parse` rejected. */
export function faultOf(text: string): JsonSyntaxFault {
  return describe(text, scan(text));
}

/** Finds a name that an object has twice: `JSON.parse` would take the last one without a word. */
export function repeatedNameIn(text: string): JsonSyntaxFault | undefined {
  const fault = scan(text, true);
  return fault.isRepeated ? describe(text, fault) : undefined;
}

function describe(text: string, { at, reason }: Fault): JsonSyntaxFault {
  const before = text.slice(0, at).split('\n');
  return {
    line: before.length,
    column: (before.at(-1) as string).length + 1,
    reason: comment(text, at) ?? reason,
  };
}

function comment(text: string, at: number): string | undefined {
  return text.startsWith('//', at) || text.startsWith('/*', at) || text[at] === '#'
    ? 'comments are not supported'
    : undefined;
}

interface Fault {
  readonly at: number;
  readonly reason: string;
  readonly isRepeated?: boolean;
}

/** Scans the string with a stack of open brackets instead of recursion, so that any depth is possible. */
function scan(text: string, findRepeated = false): Fault {
  const open: ('{' | '[')[] = [];
  const names: Set<string>[] = [];
  let at = 0;
  let expected: 'value' | 'key' | 'comma' = 'value';
  let mayEnd = false;

  function consume(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  }

  for (;;) {
    consume(SPACE);
    const next = text[at];
    const inside = open.at(-1);
    if (next === undefined) {
      return {
        at,
        reason:
          inside === undefined ? 'the text ends too early' : `the text ends, but a ${inside} is still open`,
      };
    }
    if (expected === 'comma') {
      if (inside === undefined) return { at, reason: 'there is more after the end of the JSON' };
      if (next === ',') {
        at++;
        expected = inside === '{' ? 'key' : 'value';
        mayEnd = false;
      } else if (next === closing[inside]) {
        at++;
        open.pop();
      } else return { at, reason: `a comma or ${closing[inside]} is missing` };
    } else if (
      inside !== undefined &&
      next === closing[inside] &&
      expected === (inside === '{' ? 'key' : 'value')
    ) {
      if (!mayEnd) return { at, reason: `remove the comma before this ${next}` };
      at++;
      open.pop();
      expected = 'comma';
    } else if (expected === 'key') {
      const start = at;
      if (next === ',') return { at, reason: EXTRA_COMMA };
      if (!consume(STRING)) return { at, reason: 'a name in double quotes is missing' };
      if (findRepeated) {
        const name = JSON.parse(text.slice(start, at)) as string;
        const known = names[open.length] as Set<string>;
        if (known.has(name))
          return { at: start, reason: `the name ${quote(name, 64)} appears twice`, isRepeated: true };
        known.add(name);
      }
      consume(SPACE);
      if (text[at] !== ':') return { at, reason: 'a colon is missing' };
      at++;
      expected = 'value';
      mayEnd = false;
    } else if (next === '{' || next === '[') {
      at++;
      open.push(next);
      names[open.length] = new Set();
      expected = next === '{' ? 'key' : 'value';
      mayEnd = true;
    } else if (next === ',' && inside === '[') {
      return { at, reason: EXTRA_COMMA };
    } else if (consume(STRING) || consume(SCALAR)) {
      expected = 'comma';
    } else {
      return {
        at,
        reason: next === '"' ? 'the string that begins here is not valid' : 'there is no JSON value here',
      };
    }
  }
}

const closing = { '{': '}', '[': ']' } as const;
