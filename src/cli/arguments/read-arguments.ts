// Reads `name=value` words by the schema of a tool.

import { readFileSync } from 'node:fs';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { faultOf } from '../../protocol/encoding/json-fault.js';
import { jsonTypeOf, jsonTypesOf, leavesOf } from '../../schema/read/across-branches.js';
import type { Shape } from '../../schema/read/shape.js';
import { usageError } from '../command/failures.js';

const MAX_FILE_BYTES = 16_000_000;
/** Lists inside of each other; a list may be one of itself. */
const MAX_LISTS = 4;
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
  const value = isJson ? parsed(text, word) : readValue(text, schemaAt(schema, path, schema), schema);
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

/** The schema of a field. In a union it is that of each branch which has such a field. */
function schemaAt(schema: unknown, path: readonly (string | number)[], root: JsonObject): unknown {
  return path.reduce((now, part) => {
    const found = leavesOf(now, root).flatMap((shape) => inside(shape, part) ?? []);
    return found.length < 2 ? found[0] : { anyOf: found };
  }, schema);
}

function inside(shape: Shape, part: string | number): unknown {
  switch (shape.kind) {
    case 'object':
      return (shape.fields.find(({ name }) => name === part) ?? { schema: shape.rest }).schema;
    case 'map':
      return shape.values;
    case 'array':
      return shape.items;
    case 'tuple':
      return shape.first[Number(part)] ?? shape.rest;
    default:
      return undefined;
  }
}

/** A value as the schema wants it. Text that cannot be read stays text, and the check of the arguments reports it. */
function readValue(text: string, schema: unknown, root: JsonObject, depth = 0): unknown {
  if (text.startsWith('@')) return fileText(text.slice(1));
  const types = jsonTypesOf(schema, root);
  if (types.has('string') && types.size === 1) return text;
  if (text === 'null' && types.has('null')) return null;
  if (types.has('array') && !text.startsWith('[') && depth <= MAX_LISTS) {
    const item = (at: number): unknown => schemaAt(schema, [at], root);
    return text === '' ? [] : text.split(',').map((each, at) => readValue(each, item(at), root, depth + 1));
  }
  try {
    const value: unknown = JSON.parse(text);
    return types.size === 0 || types.has(jsonTypeOf(value)) ? value : text;
  } catch {
    return text;
  }
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
  } catch {
    const { line, column, reason } = faultOf(text);
    const place = text.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`;
    throw usageError(`${what} cannot be read: ${place}: ${reason}.`);
  }
}

function fileText(path: string): string {
  try {
    const text = readFileSync(path === '-' ? 0 : path, 'utf8');
    if (text.length <= MAX_FILE_BYTES) return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      code === 'ENOENT' ? `The file ${path} does not exist.` : `The file ${path} cannot be read (${code}).`,
    );
  }
  throw usageError(`The file ${path} has more than ${MAX_FILE_BYTES} characters.`);
}
