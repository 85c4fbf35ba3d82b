// Reads TOML as a series of statements, and keeps where each stands.

import { unreadable } from './format.js';

export interface TomlStatement {
  readonly kind: 'table' | 'tables' | 'pair';
  /** The parts of the name; for a pair, without the table that it is in. */
  readonly path: readonly string[];
  /** The table that a pair is in, or the table itself. */
  readonly table: readonly string[];
  readonly value: unknown;
  /** The beginning of its first line. */
  readonly start: number;
  /** After its last character, without a comment behind it. */
  readonly end: number;
}

const MAX_DEPTH = 50;
const SPACE = /[ \t]*/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC = /"(?:[^"\\\p{Cc}]|\t|\\(?:["\\bfnrte]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}))*"/uy;
const LITERAL = /'[^'\n\r]*'/y;
const WORD = /[A-Za-z0-9_+.:-]+(?: [0-9][0-9:.Z+-]*)?/y;

/** Reads a whole text. Throws an error that says where it stops to be TOML. */
export function readToml(text: string): readonly TomlStatement[] {
  const reader = new Reader(text);
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  let at = reader.match(BLANK, text.startsWith('\ufeff') ? 1 : 0);
  while (at < text.length) {
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const statement = text[at] === '[' ? reader.header(at) : reader.pair(at);
    if (statement.kind !== 'pair') table = statement.path;
    statements.push({ ...statement, table, start });
    at = reader.endLine(statement.end);
  }
  return statements;
}

type Parsed = Omit<TomlStatement, 'table' | 'start'>;

class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  match(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.#text) ? pattern.lastIndex : at;
  }

  header(at: number): Parsed {
    const isArray = this.#text.startsWith('[[', at);
    const { path, end } = this.#key(at + (isArray ? 2 : 1));
    const close = isArray ? ']]' : ']';
    if (!this.#text.startsWith(close, end)) throw this.#fault(end, `${close} is expected here`);
    return { kind: isArray ? 'tables' : 'table', path, value: undefined, end: end + close.length };
  }

  pair(at: number): Parsed {
    const { path, end } = this.#key(at);
    if (this.#text[end] !== '=') throw this.#fault(end, '= is expected here');
    const value = this.#value(this.match(SPACE, end + 1), 0);
    return { kind: 'pair', path, ...value };
  }

  /** After a statement, only a comment may be on its line. */
  endLine(from: number): number {
    const at = this.match(SPACE, from);
    const next = this.#text[at];
    if (next !== undefined && next !== '\n' && next !== '\r' && next !== '#')
      throw this.#fault(at, 'the line should end here');
    return this.match(BLANK, at);
  }

  #key(from: number): { path: readonly string[]; end: number } {
    const path: string[] = [];
    let at = from;
    for (;;) {
      at = this.match(SPACE, at);
      const { value, end } = this.#keyPart(at);
      path.push(value);
      at = this.match(SPACE, end);
      if (this.#text[at] !== '.') return { path, end: at };
      at += 1;
    }
  }

  #keyPart(at: number): { value: string; end: number } {
    if (this.#text[at] === '"' || this.#text[at] === "'") return this.#string(at);
    const end = this.match(BARE_KEY, at);
    if (end === at) throw this.#fault(at, 'a name is expected here');
    return { value: this.#text.slice(at, end), end };
  }

  #value(at: number, depth: number): { value: unknown; end: number } {
    if (depth > MAX_DEPTH) throw this.#fault(at, `more than ${MAX_DEPTH} levels`);
    const first = this.#text[at];
    if (first === '"' || first === "'") return this.#string(at);
    if (first === '[') return this.#array(at, depth);
    if (first === '{') return this.#inlineTable(at, depth);
    const end = this.match(WORD, at);
    if (end === at) throw this.#fault(at, 'a value is expected here');
    const word = this.#text.slice(at, end).trim();
    if (word === 'true' || word === 'false') return { value: word === 'true', end };
    const number = Number(word.replaceAll('_', ''));
    return { value: Number.isNaN(number) ? word : number, end };
  }

  #string(at: number): { value: string; end: number } {
    for (const mark of ['"""', "'''"]) {
      if (!this.#text.startsWith(mark, at)) continue;
      const end = this.#endOfLong(mark, at + 3);
      return { value: this.#text.slice(at + 3, end), end: end + 3 };
    }
    const isBasic = this.#text[at] === '"';
    const end = this.match(isBasic ? BASIC : LITERAL, at);
    if (end === at) throw this.#fault(at, 'the string is not valid');
    const inner = this.#text.slice(at + 1, end - 1);
    return { value: isBasic ? unescaped(inner) : inner, end };
  }

  #endOfLong(mark: string, from: number): number {
    let at = from;
    for (;;) {
      const end = this.#text.indexOf(mark, at);
      if (end === -1) throw this.#fault(from, 'the string has no end');
      let slashes = 0;
      while (mark === '"""' && this.#text[end - 1 - slashes] === '\\') slashes += 1;
      // Up to two quotes may stand before the three that end the string.
      if (slashes % 2 === 0) {
        let last = end;
        while (last < end + 2 && this.#text[last + 3] === mark[0]) last += 1;
        return last;
      }
      at = end + 1;
    }
  }

  #array(start: number, depth: number): { value: unknown; end: number } {
    const value: unknown[] = [];
    let at = this.match(BLANK, start + 1);
    while (this.#text[at] !== ']') {
      const item = this.#value(at, depth + 1);
      value.push(item.value);
      at = this.match(BLANK, item.end);
      if (this.#text[at] === ',') at = this.match(BLANK, at + 1);
      else if (this.#text[at] !== ']') throw this.#fault(at, 'a comma or ] is expected here');
    }
    return { value, end: at + 1 };
  }

  #inlineTable(start: number, depth: number): { value: unknown; end: number } {
    const value: Record<string, unknown> = Object.create(null);
    let at = this.match(BLANK, start + 1);
    while (this.#text[at] !== '}') {
      const { path, end } = this.#key(at);
      if (this.#text[end] !== '=') throw this.#fault(end, '= is expected here');
      const item = this.#value(this.match(SPACE, end + 1), depth + 1);
      value[path.join('.')] = item.value;
      at = this.match(BLANK, item.end);
      if (this.#text[at] === ',') at = this.match(BLANK, at + 1);
      else if (this.#text[at] !== '}') throw this.#fault(at, 'a comma or } is expected here');
    }
    return { value, end: at + 1 };
  }

  #fault(at: number, reason: string): Error {
    return unreadable(this.#text, at, reason);
  }
}

const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', e: '\u001b' };

function unescaped(inner: string): string {
  return inner.replace(/\\(?:u(.{4})|U(.{8})|x(.{2})|(.))/gu, (_whole, short, long, byte, one: string) => {
    const number = short ?? long ?? byte;
    if (number === undefined) return SHORT[one] ?? one;
    const code = Number.parseInt(number, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
