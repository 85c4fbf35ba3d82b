// Reads `name=value` words by the schema of a tool.

import { readFileSync } from 'node:fs';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { usageError } from '../command/failures.js';

const MAX_FILE_BYTES = 16_000_000;
const PART = /^([^[\].]+)((?:\[\d{1,4}\])*)$/;

/**
 * Reads the arguments of a call: `name=value` is a string if the schema wants one and JSON otherwise, `a.b=1` and `list[0]=x` reach into
 * objects and lists, `name:=json` is always JSON, `name=@file` is the text of a file, `@file.json` an object, and `{…}` is JSON itself.
 */
export function readArguments(words: readonly string[], schema: JsonObject): JsonObject {
  const args: Record<string, unknown> = {};
  for (const word of words) {
    if (word.startsWith('@')) Object.assign(args, jsonObject(fileText(word.slice(1)), word));
    else if (word.startsWith('{')) Object.assign(args, jsonObject(word, 'The JSON'));
    else assign(args, word, schema);
  }
  return args as JsonObject;
}

function assign(args: Record<string, unknown>, word: string, schema: JsonObject): void {
  const at = word.indexOf('=');
  if (at < 1)
    throw usageError(
      `${JSON.stringify(word)} is not an argument: write name=value, {"name": …} or @file.json.`,
    );
  const isJson = word[at - 1] === ':';
  const path = pathOf(word.slice(0, isJson ? at - 1 : at));
  const text = word.slice(at + 1);
  const value = isJson ? parsed(text, word) : readValue(text, schemaAt(schema, path));
  put(args, path, value);
}

function pathOf(text: string): readonly (string | number)[] {
  return text.split('.').flatMap((part) => {
    const [, name, indexes = ''] = PART.exec(part) ?? [];
    if (name === undefined)
      throw usageError(`${JSON.stringify(text)} is not the name of an argument, such as a, a.b or a[0].`);
    return [name, ...Array.from(indexes.matchAll(/\d+/g), ([digits]) => Number(digits))];
  });
}

/** The schema of a field, as far as it can be followed without a union. */
function schemaAt(schema: unknown, path: readonly (string | number)[]): unknown {
  let now = schema;
  for (const part of path) {
    if (!isObject(now)) return undefined;
    const fields = now['properties'];
    if (typeof part === 'number') now = now['items'];
    else now = isObject(fields) && Object.hasOwn(fields, part) ? fields[part] : now['additionalProperties'];
  }
  return now;
}

/** A value as the schema wants it. Text that cannot be read stays text, and the check of the arguments reports it. */
function readValue(text: string, schema: unknown): unknown {
  if (text.startsWith('@')) return fileText(text.slice(1));
  const types = typesOf(schema);
  if (types.has('string') && types.size === 1) return text;
  if (types.has('array') && !text.startsWith('[')) {
    const items = isObject(schema) ? schema['items'] : undefined;
    return text === '' ? [] : text.split(',').map((item) => readValue(item, items));
  }
  try {
    const value: unknown = JSON.parse(text);
    return types.size === 0 || types.has(typeName(value)) ? value : text;
  } catch {
    return text;
  }
}

function typesOf(schema: unknown): ReadonlySet<string> {
  if (!isObject(schema)) return new Set();
  const union = [schema['anyOf'], schema['oneOf']].flatMap((one) => (Array.isArray(one) ? one : []));
  const values = [
    ...(Array.isArray(schema['enum']) ? schema['enum'] : []),
    ...('const' in schema ? [schema['const']] : []),
  ];
  const own = [schema['type'] ?? []].flat().map((type) => (type === 'integer' ? 'number' : String(type)));
  return new Set([...own, ...values.map(typeName), ...union.flatMap((one) => [...typesOf(one)])]);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function put(args: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  let place = args as Record<string | number, unknown>;
  path.forEach((part, at) => {
    if (at === path.length - 1) define(place, part, value);
    else {
      if (!Object.hasOwn(place, part) || typeof place[part] !== 'object' || place[part] === null)
        define(place, part, typeof path[at + 1] === 'number' ? [] : {});
      place = place[part] as Record<string | number, unknown>;
    }
  });
}

// An argument may be called `__proto__`.
function define(place: object, key: string | number, value: unknown): void {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
}

function jsonObject(text: string, what: string): Record<string, unknown> {
  const value = parsed(text, what);
  if (isObject(value)) return value;
  throw usageError(`${what} must be a JSON object.`);
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${what} is not JSON: ${(error as Error).message}`);
  }
}

function fileText(path: string): string {
  try {
    const text = readFileSync(path === '-' ? 0 : path, 'utf8');
    if (text.length <= MAX_FILE_BYTES) return text;
  } catch (error) {
    throw usageError(`The file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw usageError(`The file ${path} has more than ${MAX_FILE_BYTES} characters.`);
}
