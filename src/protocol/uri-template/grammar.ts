import { tripletAt } from './characters.js';

// Parses the syntax of a template. RFC 6570, section 2.

interface Literal {
  readonly kind: 'literal';
  readonly text: string;
}

export interface Expression {
  readonly kind: 'expression';
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export interface Variable {
  readonly name: string;
  /** `{list*}` */
  readonly explode: boolean;
  /** `{name:3}`: only this many characters of the value. */
  readonly prefix: number | undefined;
}

export type Part = Literal | Expression;

/** The properties in which the operators differ. RFC 6570, appendix A. */
export interface Operator {
  readonly first: string;
  readonly separator: string;
  /** The expansion names the variables: `name=value`. */
  readonly named: boolean;
  /** The string that follows the name of an empty value. */
  readonly ifEmpty: string;
  /** Reserved characters are not encoded. */
  readonly reserved: boolean;
}

const simple: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false };
const operators: ReadonlyMap<string, Operator> = new Map([
  ['+', { first: '', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['#', { first: '#', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['.', { first: '.', separator: '.', named: false, ifEmpty: '', reserved: false }],
  ['/', { first: '/', separator: '/', named: false, ifEmpty: '', reserved: false }],
  [';', { first: ';', separator: ';', named: true, ifEmpty: '', reserved: false }],
  ['?', { first: '?', separator: '&', named: true, ifEmpty: '=', reserved: false }],
  ['&', { first: '&', separator: '&', named: true, ifEmpty: '=', reserved: false }],
]);

/** Limits memory: a template may come from a remote server, and the table for matching grows with it. */
const MAX_TEMPLATE_LENGTH = 8192;

/** Parses a template. Throws a `RangeError` that says what is wrong, and where. */
export function readParts(text: string): readonly Part[] {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new RangeError(`A URI template must not be longer than ${MAX_TEMPLATE_LENGTH} characters.`);
  }
  const parts: Part[] = [];
  for (let at = 0; at < text.length; ) {
    const brace = text.indexOf('{', at);
    const literalEnd = brace === -1 ? text.length : brace;
    if (literalEnd > at) parts.push(readLiteral(text, at, literalEnd));
    if (brace === -1) break;
    const end = text.indexOf('}', brace);
    if (end === -1) throw invalidAt(text, brace, 'this brace is never closed');
    parts.push(readExpression(text, brace + 1, end));
    at = end + 1;
  }
  return parts;
}

function readLiteral(text: string, from: number, to: number): Literal {
  for (let at = from; at < to; at++) {
    const character = text.charAt(at);
    if (character === '}') throw invalidAt(text, at, 'this brace was never opened');
    if (character === '%' && tripletAt(text, at) < 0) {
      throw invalidAt(
        text,
        at,
        'a percent sign must be followed by two hexadecimal digits; write %25 for a percent sign itself',
      );
    }
    if (character <= ' ' || character === '\x7f' || '"<>\\^`|'.includes(character)) {
      throw invalidAt(text, at, `${JSON.stringify(character)} is not allowed in a URI; percent-encode it`);
    }
  }
  return { kind: 'literal', text: text.slice(from, to) };
}

function readExpression(text: string, from: number, to: number): Expression {
  const sign = text.charAt(from);
  if (from < to && '=,!@|'.includes(sign)) {
    throw invalidAt(text, from, `RFC 6570 reserves the operator "${sign}" for later use`);
  }
  const operator = operators.get(sign);
  const variables: Variable[] = [];
  for (let at = operator === undefined ? from : from + 1; at <= to; ) {
    const comma = text.indexOf(',', at);
    const end = comma === -1 || comma > to ? to : comma;
    variables.push(readVariable(text, at, end));
    at = end + 1;
  }
  return { kind: 'expression', operator: operator ?? simple, variables };
}

function readVariable(text: string, from: number, to: number): Variable {
  const end = nameEnd(text, from, to);
  const name = text.slice(from, end);
  const modifier = text.slice(end, to);
  if (modifier === '') return { name, explode: false, prefix: undefined };
  if (modifier === '*') return { name, explode: true, prefix: undefined };
  if (/^:[1-9][0-9]{0,3}$/.test(modifier)) return { name, explode: false, prefix: Number(modifier.slice(1)) };
  if (modifier.startsWith(':')) throw invalidAt(text, end, 'a prefix is a colon and a number from 1 to 9999');
  throw invalidAt(text, end, `${JSON.stringify(text.charAt(end))} is not allowed in a variable's name`);
}

function nameEnd(text: string, from: number, to: number): number {
  let at = from;
  let afterDot = true;
  while (at < to) {
    if (text[at] === '.') {
      if (afterDot) break;
      afterDot = true;
      at += 1;
    } else {
      const length = tripletAt(text, at) >= 0 ? 3 : isWordCharacter(text.charCodeAt(at)) ? 1 : 0;
      if (length === 0) break;
      afterDot = false;
      at += length;
    }
  }
  if (at === from) throw invalidAt(text, from, "a variable's name is missing");
  if (afterDot) throw invalidAt(text, at - 1, "a dot in a variable's name must be between other characters");
  return at;
}

function isWordCharacter(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a) || code === 0x5f;
}

function invalidAt(text: string, at: number, problem: string): RangeError {
  return new RangeError(`The URI template ${JSON.stringify(text)} is invalid at position ${at}: ${problem}.`);
}
