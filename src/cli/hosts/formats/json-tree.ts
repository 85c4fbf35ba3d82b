// Reads JSON with comments and trailing commas, and keeps where everything stands.

import { unreadable } from './format.js';

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** The members of an object; undefined for anything else. */
  readonly members?: readonly JsonMember[];
}

export interface JsonMember {
  readonly name: string;
  readonly start: number;
  readonly node: JsonNode;
  /** Where its comma stands; undefined if it has none. */
  readonly comma: number | undefined;
}

const MAX_DEPTH = 100;
const SPACE = /[ \t\r\n\ufeff]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.])/y;

/** Reads a whole text. Throws an error that says where it stops to be JSON. */
export function readJsonTree(text: string): JsonNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  const end = reader.skip(node.end);
  if (end < text.length) throw unreadable(text, end, 'nothing may follow here');
  return node;
}

/** The position after spaces and comments. */
export function afterSpace(text: string, from: number): number {
  return new Reader(text).skip(from);
}

class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skip(from: number): number {
    let at = from;
    for (;;) {
      at = this.#match(SPACE, at) ?? at;
      if (this.#text.startsWith('//', at)) {
        const end = this.#text.indexOf('\n', at);
        at = end === -1 ? this.#text.length : end;
      } else if (this.#text.startsWith('/*', at)) {
        const end = this.#text.indexOf('*/', at + 2);
        if (end === -1) throw unreadable(this.#text, at, 'the comment has no end');
        at = end + 2;
      } else return at;
    }
  }

  value(from: number, depth = 0): JsonNode {
    const start = this.skip(from);
    if (depth > MAX_DEPTH) throw unreadable(this.#text, start, `more than ${MAX_DEPTH} levels`);
    if (this.#text[start] === '{') return this.#object(start, depth);
    if (this.#text[start] === '[') return this.#array(start, depth);
    const end = this.#match(STRING, start) ?? this.#match(SCALAR, start);
    if (end === undefined) throw unreadable(this.#text, start, 'a value is expected here');
    return { start, end, value: JSON.parse(this.#text.slice(start, end)) };
  }

  #object(start: number, depth: number): JsonNode {
    const members: JsonMember[] = [];
    const value: Record<string, unknown> = Object.create(null);
    let at = this.skip(start + 1);
    while (this.#text[at] !== '}') {
      if (members.length > 0 && members.at(-1)?.comma === undefined)
        throw unreadable(this.#text, at, 'a comma or } is expected here');
      const end = this.#match(STRING, at);
      if (end === undefined) throw unreadable(this.#text, at, 'a name in double quotes is expected here');
      const name = JSON.parse(this.#text.slice(at, end)) as string;
      if (Object.hasOwn(value, name))
        throw unreadable(this.#text, at, 'the object has this name twice, so remove one of them');
      const colon = this.skip(end);
      if (this.#text[colon] !== ':') throw unreadable(this.#text, colon, 'a colon is expected here');
      const node = this.value(colon + 1, depth + 1);
      const after = this.skip(node.end);
      const hasComma = this.#text[after] === ',';
      members.push({ name, start: at, node, comma: hasComma ? after : undefined });
      value[name] = node.value;
      at = hasComma ? this.skip(after + 1) : after;
    }
    return { start, end: at + 1, value, members };
  }

  #array(start: number, depth: number): JsonNode {
    const value: unknown[] = [];
    let at = this.skip(start + 1);
    let hasComma = true;
    while (this.#text[at] !== ']') {
      if (!hasComma) throw unreadable(this.#text, at, 'a comma or ] is expected here');
      const node = this.value(at, depth + 1);
      value.push(node.value);
      at = this.skip(node.end);
      hasComma = this.#text[at] === ',';
      if (hasComma) at = this.skip(at + 1);
    }
    return { start, end: at + 1, value };
  }

  #match(pattern: RegExp, at: number): number | undefined {
    pattern.lastIndex = at;
    return pattern.test(this.#text) ? pattern.lastIndex : undefined;
  }
}
