// The styles of parameters: how values become parts of a URL, a header or a cookie. OpenAPI 3.1, "Style Values", and RFC 6570.

import { isObject } from '../../jsonrpc/message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { ToolError } from '../../server/results/tool-error.js';
import { stringOf } from '../document/operations.js';
import type { Json } from '../document/references.js';

/** The name of a parameter and its style. */
export interface Style {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  /**
   * Whether characters with a meaning in URLs stay as they are in a query or a form, apart from those that would begin another part of the
   * URL. In a path they would change the route, and in a cookie begin another one, so that they are always encoded there.
   */
  readonly allowReserved: boolean;
  /** Whether the value is printed as JSON, because the parameter has `content`. */
  readonly isJson: boolean;
}

/** Reads the style of a parameter, or of a field of a form. */
export function styleOf(name: string, raw: Json, usual: 'form' | 'simple'): Style {
  const { explode, allowReserved, content } = raw;
  const style = stringOf(raw['style']) ?? usual;
  const pairs = style === 'form' || style === 'cookie';
  return {
    name,
    style,
    explode: typeof explode === 'boolean' ? explode : pairs,
    allowReserved: allowReserved === true,
    isJson: isObject(content),
  };
}

type Encode = (text: string) => string;

/** Prints the value of a parameter in a path. */
export function inPath(style: Style, given: unknown): string {
  const { explode } = style;
  const name = encodeText(style.name);
  const value = prepare(style, given);
  const encode: Encode = encodeText;
  const separator = (exploded: string): string => (explode ? exploded : ',');
  if (style.style === 'label') return `.${join(value, separator('.'), { explode, encode })}`;
  if (style.style !== 'matrix') return join(value, ',', { explode, encode });
  if (Array.isArray(value) && explode) return value.map((item) => `;${name}=${encode(print(item))}`).join('');
  if (isObject(value) && explode) return `;${join(value, ';', { explode, encode })}`;
  return `;${name}=${join(value, ',', { explode: false, encode })}`;
}

/** Prints a value as the pairs of cookies. */
export function inCookie(style: Style, given: unknown): readonly string[] {
  return inQuery({ ...style, allowReserved: false }, given);
}

/** Prints a value as the pairs of a query or of a form. */
export function inQuery(style: Style, given: unknown): readonly string[] {
  const { explode } = style;
  const value = prepare(style, given);
  const encode = style.style === 'cookie' ? plainCookie : style.allowReserved ? encodeReserved : encodeText;
  const name = encodeText(style.name);
  if (style.style === 'deepObject' && typeof value === 'object') return deepPairs(style.name, value, 0);
  if (explode && Array.isArray(value)) return value.map((item) => `${name}=${encode(print(item))}`);
  if (explode && isObject(value))
    return entriesOf(value).map(([key, item]) => `${encodeText(key)}=${encode(print(item))}`);
  const delimiter = { spaceDelimited: ' ', pipeDelimited: '|', tabDelimited: '\t' }[style.style];
  const parts = isObject(value) ? Object.values(value) : [value].flat();
  if (
    delimiter !== undefined &&
    typeof value === 'object' &&
    parts.some((part) => print(part).includes(delimiter))
  )
    throw new ToolError(
      `The values of ${quote(style.name, 60)} cannot contain ${quote(delimiter, 1)}, which separates them.`,
    );
  const separator = delimiter === undefined ? ',' : encodeURIComponent(delimiter);
  return [`${name}=${join(value, separator, { explode: false, encode })}`];
}

/** Prints a value as the whole query: as the pairs of a form, or else as one encoded text. */
export function asQuery(style: Style, given: unknown): readonly string[] {
  if (style.isJson || !isObject(given)) return [encodeText(print(prepare(style, given)))];
  return entriesOf(given).flatMap(([name, item]) =>
    inQuery({ ...style, name, isJson: isObject(item) }, item),
  );
}

/** The value of a cookie as it is. OpenAPI 3.2, "Style Values", `cookie`. */
function plainCookie(text: string): string {
  if (text.includes(';'))
    throw new ToolError(`The value ${quote(text, 60)} cannot be sent in a cookie: it has ";".`);
  return checkHeader('Cookie', text);
}

/** Prints the value of a header. Headers have no escapes, so some values cannot be sent. */
export function inHeader(style: Style, given: unknown): string {
  const text = join(prepare(style, given), ',', { explode: style.explode, encode: (part) => part });
  return checkHeader(style.name, text);
}

/** The value of a header; throws a `ToolError` if it has characters that would end the header or that HTTP does not carry. */
export function checkHeader(name: string, text: string): string {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e)
      throw new ToolError(
        `The value ${quote(text, 60)} cannot be sent in the header ${quote(name, 60)}: it may only have visible ASCII characters and spaces.`,
      );
  }
  return text;
}

function prepare({ isJson }: Style, value: unknown): unknown {
  return isJson && typeof value !== 'string' ? JSON.stringify(value) : value;
}

function join(
  value: unknown,
  separator: string,
  { explode, encode }: { readonly explode: boolean; readonly encode: Encode },
): string {
  if (Array.isArray(value)) return value.map((item) => encode(print(item))).join(separator);
  if (!isObject(value)) return encode(print(value));
  const pairs = entriesOf(value).map(([key, item]) => [encode(key), encode(print(item))]);
  return pairs.map((pair) => pair.join(explode ? '=' : separator)).join(separator);
}

const MAX_LEVELS = 20;

/** `a[b]=1`. Deeper values are not in the specification; this is the form that most frameworks read. */
function deepPairs(name: string, value: unknown, level: number): readonly string[] {
  if (level > MAX_LEVELS) throw new ToolError(`The value of ${quote(name, 60)} is nested too deeply.`);
  if (Array.isArray(value))
    return value.flatMap((item, at) =>
      deepPairs(typeof item === 'object' && item !== null ? `${name}[${at}]` : `${name}[]`, item, level + 1),
    );
  if (!isObject(value)) return [`${encodeText(name)}=${encodeText(print(value))}`];
  return entriesOf(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item, level + 1));
}

function entriesOf(value: Readonly<Record<string, unknown>>): readonly [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

/** A value as text: objects inside of other values as JSON, and null as nothing. */
export function print(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Percent-encodes everything that has a meaning in URLs. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}

/** Leaves reserved characters as they are, apart from those that would begin another part of the URL or another pair. */
function encodeReserved(text: string): string {
  return encodeText(text).replaceAll(/%(?:3A|2F|40|24|2C|3B)/g, decodeURIComponent);
}
