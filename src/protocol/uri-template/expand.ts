import { encodeKeepingReserved, encodeStrictly, unitLength } from './characters.js';
import type { Expression, Operator, Part, Variable } from './grammar.js';

// Expands a template and values into a URI. RFC 6570, section 3.

type ExpansionValue = string | readonly string[] | Readonly<Record<string, string>>;
export type ExpansionValues = Readonly<Record<string, ExpansionValue | undefined>>;

export function expandParts(parts: readonly Part[], values: ExpansionValues): string {
  let uri = '';
  for (const part of parts) {
    uri += part.kind === 'literal' ? encodeKeepingReserved(part.text) : expandExpression(part, values);
  }
  return uri;
}

function expandExpression({ operator, variables }: Expression, values: ExpansionValues): string {
  const pieces: string[] = [];
  for (const variable of variables) {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    if (value !== undefined && !isEmptyComposite(value))
      pieces.push(expandVariable(operator, variable, value));
  }
  return pieces.length === 0 ? '' : operator.first + pieces.join(operator.separator);
}

function expandVariable(operator: Operator, variable: Variable, value: ExpansionValue): string {
  const encode = operator.reserved ? encodeKeepingReserved : encodeStrictly;
  if (typeof value === 'string') {
    return withName(operator, variable.name, encode(cut(value, variable.prefix, operator)));
  }
  if (variable.prefix !== undefined) {
    throw new RangeError(
      `{${variable.name}:${variable.prefix}} takes a string: an array or an object has no prefix.`,
    );
  }
  if (isList(value)) {
    const items = value.map(encode);
    if (!variable.explode) return withName(operator, variable.name, items.join(','));
    return items.map((item) => withName(operator, variable.name, item)).join(operator.separator);
  }
  const pairs = Object.entries(value).map(([key, item]) => [encode(key), encode(item)] as const);
  if (!variable.explode) return withName(operator, variable.name, pairs.flat().join(','));
  return pairs
    .map(([key, item]) => (operator.named ? withName(operator, key, item) : `${key}=${item}`))
    .join(operator.separator);
}

function withName(operator: Operator, name: string, value: string): string {
  if (!operator.named) return value;
  return value === '' ? name + operator.ifEmpty : `${name}=${value}`;
}

/** Cuts a value to its prefix, in code points. Where triplets are not encoded again, an encoded code point counts as one. */
function cut(value: string, prefix: number | undefined, operator: Operator): string {
  if (prefix === undefined) return value;
  let at = 0;
  for (let count = 0; count < prefix && at < value.length; count++) {
    at += value[at] === '%' && !operator.reserved ? 1 : Math.max(1, unitLength(value, at));
  }
  return value.slice(0, at);
}

/** RFC 6570, section 2.3: an empty array or object counts as undefined. An empty string does not. */
function isEmptyComposite(value: ExpansionValue): boolean {
  if (typeof value === 'string') return false;
  return isList(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function isList(value: ExpansionValue): value is readonly string[] {
  return Array.isArray(value);
}
