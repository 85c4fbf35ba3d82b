// The values of YAML that begin on a line: plain and quoted scalars, and collections in brackets.

/** A mistake in YAML, with the line where it is. */
export class YamlError extends Error {
  /** The line, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'YamlError';
    this.line = line;
  }
}

/** The deepest nesting of collections. */
export const MAX_DEPTH = 16;

const escapes: Readonly<Record<string, string>> = {
  ...{ '0': '\0', a: '\x07', b: '\b', t: '\t', '\t': '\t', n: '\n', v: '\v', f: '\f', r: '\r', e: '\x1b' },
  ...{ ' ': ' ', '"': '"', '/': '/', '\\': '\\', N: '\x85', _: '\xa0', L: '\u2028', P: '\u2029' },
};
const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads quoted scalars and collections in brackets, which may continue over several lines. */
export class InlineReader {
  readonly #text: string;
  /** The number of the text's first line. */
  readonly #firstLine: number;
  /** The place of the next character. */
  at = 0;

  constructor(text: string, firstLine: number) {
    this.#text = text;
    this.#firstLine = firstLine;
  }

  /** The line of the next character. */
  get line(): number {
    let line = this.#firstLine;
    for (let at = this.#text.indexOf('\n'); at >= 0 && at < this.at; at = this.#text.indexOf('\n', at + 1))
      line++;
    return line;
  }

  /** Reads the value that begins here. */
  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw this.fail(`Values are nested more than ${MAX_DEPTH} deep.`);
    const first = this.#text[this.at];
    if (first === '[') return this.#sequence(depth);
    if (first === '{') return this.#mapping(depth);
    return first === '"' || first === "'" ? this.quoted() : resolveScalar(this.#plain(), this.line);
  }

  /** Reads a quoted scalar. */
  quoted(): string {
    const quote = this.#text[this.at++];
    let value = '';
    for (;;) {
      const character = this.#text[this.at++];
      if (character === undefined) throw this.fail('A quoted value has no closing quote.');
      if (character === quote) {
        if (quote !== "'" || this.#text[this.at] !== "'") return value;
        this.at++;
        value += "'";
      } else if (character === '\n') value = this.#fold(value);
      else if (character === '\\' && quote === '"') value += this.#escape();
      else value += character;
    }
  }

  // A line break is a space; of several, the first is dropped.
  #fold(value: string): string {
    let breaks = 0;
    for (; /[ \t\n]/.test(this.#text[this.at] ?? ''); this.at++) if (this.#text[this.at] === '\n') breaks++;
    return trimBlanks(value) + (breaks === 0 ? ' ' : '\n'.repeat(breaks));
  }

  #escape(): string {
    const code = this.#text[this.at++] ?? '';
    if (code === '\n') {
      while (/[ \t]/.test(this.#text[this.at] ?? '')) this.at++;
      return '';
    }
    const length = Object.hasOwn(hexLengths, code) ? (hexLengths[code] as number) : 0;
    const hex = this.#text.slice(this.at, this.at + length);
    if (length > 0 && hex.length === length && /^[0-9a-fA-F]+$/.test(hex)) {
      this.at += length;
      const point = Number.parseInt(hex, 16);
      if (point <= 0x10ffff) return String.fromCodePoint(point);
    } else if (Object.hasOwn(escapes, code)) return escapes[code] as string;
    throw this.fail(`"\\${code}" is not an escape sequence.`);
  }

  #sequence(depth: number): unknown[] {
    const items: unknown[] = [];
    this.at++;
    while (!this.#ends(']')) {
      items.push(this.value(depth + 1));
      if (this.#next() === ':') throw this.fail('A "key: value" in [ ] needs braces around it.');
      this.#comma(']');
    }
    return items;
  }

  #mapping(depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    this.at++;
    while (!this.#ends('}')) {
      const isQuoted = /["']/.test(this.#text[this.at] ?? '');
      const key = isQuoted ? this.quoted() : this.#plain();
      if (entries.has(key)) throw this.fail(`The key ${JSON.stringify(key)} is there twice.`);
      const hasValue = this.#next() === ':';
      if (hasValue) this.at++;
      const isEmpty = !hasValue || ',}'.includes(this.#next() ?? ',');
      entries.set(key, isEmpty ? null : this.value(depth + 1));
      this.#comma('}');
    }
    return Object.fromEntries(entries);
  }

  #ends(bracket: string): boolean {
    const next = this.#next();
    if (next === undefined) throw this.fail(`"${bracket}" is missing.`);
    if (next === ',') throw this.fail('A value is missing before the comma.');
    if (next === bracket) this.at++;
    return next === bracket;
  }

  #comma(bracket: string): void {
    const next = this.#next();
    if (next === ',') this.at++;
    else if (next !== bracket) throw this.fail(`A comma or "${bracket}" is missing.`);
  }

  /** Skips blanks, line breaks and comments; returns the next character. */
  #next(): string | undefined {
    for (;;) {
      const character = this.#text[this.at];
      if (character === '#' && /[ \t\n]/.test(this.#text[this.at - 1] ?? '\n')) {
        while (this.at < this.#text.length && this.#text[this.at] !== '\n') this.at++;
      } else if (character !== undefined && /[ \t\n]/.test(character)) this.at++;
      else return character;
    }
  }

  #plain(): string {
    const from = this.at;
    for (; this.at < this.#text.length; this.at++) {
      const character = this.#text[this.at] as string;
      if (',[]{}\n'.includes(character)) break;
      if (character === ':' && /[ \t\n,[\]{}]/.test(this.#text[this.at + 1] ?? '\n')) break;
      if (character === '#' && /[ \t]/.test(this.#text[this.at - 1] ?? '')) break;
    }
    const text = trimBlanks(this.#text.slice(from, this.at));
    checkPlain(text, this.line);
    return text;
  }

  fail(message: string): YamlError {
    return new YamlError(message, this.line);
  }
}

/** Throws if an unquoted value begins with a character that YAML reserves, or that this subset leaves out. */
export function checkPlain(text: string, line: number): void {
  const first = text[0] ?? '';
  if (first === '') throw new YamlError('A value is missing.', line);
  if ('&*!'.includes(first))
    throw new YamlError(
      `Anchors, aliases and tags are not supported; put the value ${JSON.stringify(text.slice(0, 40))} in quotes.`,
      line,
    );
  if ('%@`"\'|>,]}#'.includes(first) || (/[-?:]/.test(first) && /^.(?:[ \t]|$)/.test(text)))
    throw new YamlError(`A value begins with ${JSON.stringify(first)}; put it in quotes.`, line);
}

/** The value of an unquoted scalar: YAML 1.2, core schema. */
export function resolveScalar(text: string, line: number): unknown {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (text.length > 64 || !/^[-+.0-9]/.test(text)) return text;
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8);
  if (/^(?:[-+]?[0-9]+|0x[0-9a-fA-F]+)$/.test(text)) return Number(text);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return finite(text, line);
  if (/^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text)) return finite(text, line);
  return text;
}

function finite(text: string, line: number): number {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new YamlError(`${text} is not a number that JSON has; put it in quotes.`, line);
}

/** The text without spaces and tabs at its end. In a loop: a pattern could take quadratic time. */
export function trimBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t'.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
