import { shorten } from './shorten.js';

// Finds the value that JSON cannot carry, and says where it is and what to return instead. This runs only if something looks wrong,
// so it need not be fast.

export interface JsonProblem {
  readonly sentence: string;
  /** The error that was found in place of a value. */
  readonly cause: unknown;
}

/** No client reads deeper values, and JSON.stringify itself fails a few thousand levels deeper. */
const MAX_LEVELS = 1000;

/** The first value that JSON cannot carry, or undefined. */
export function jsonProblem(value: unknown): JsonProblem | undefined {
  return search(value, '', new Map()) ?? emptyProblem(value);
}

// Inside an object, undefined is left out, as everybody expects. On its own, it is not JSON.
function emptyProblem(value: unknown): JsonProblem | undefined {
  if (typeof value !== 'object' || value === null || JSON.stringify(value) !== undefined) return undefined;
  return problem('', 'has a toJSON() that returns nothing. Return the value that it stands for.');
}

function search(value: unknown, path: string, ancestors: Map<object, string>): JsonProblem | undefined {
  const sentence = advice(value);
  if (sentence !== undefined) return problem(path, sentence, value);
  if (typeof value !== 'object' || value === null) return undefined;
  const ancestorPath = ancestors.get(value);
  if (ancestorPath !== undefined)
    return problem(
      path,
      `refers back to ${ancestorPath === '' ? 'the value itself' : ancestorPath}. Return a copy without it.`,
    );
  if (ancestors.size >= MAX_LEVELS)
    return problem(path, `is nested deeper than ${MAX_LEVELS} levels. Return less of it.`);
  ancestors.set(value, path);
  const inner = searchInside(value, path, ancestors);
  ancestors.delete(value);
  return inner;
}

function searchInside(value: object, path: string, ancestors: Map<object, string>): JsonProblem | undefined {
  const own = value as { readonly toJSON?: unknown } & Record<string, unknown>;
  if (typeof own.toJSON === 'function') return search(own.toJSON(), path, ancestors);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const inner = search(item, `${path}[${index}]`, ancestors);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const inner = search(own[key], pathTo(path, key), ancestors);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function problem(path: string, sentence: string, value?: unknown): JsonProblem {
  const cause = value instanceof Error ? value : undefined;
  return { sentence: `${path === '' ? 'it' : shortenPath(path)} ${sentence}`, cause };
}

function pathTo(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function shortenPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 80)} … ${path.slice(-80)}` : path;
}

/** Advice on the value itself, without the values inside it; undefined if it is fine. */
function advice(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value)
        ? undefined
        : `is ${value}, a number that JSON does not have. Return null, or leave it out.`;
    case 'bigint':
      // Some programs teach BigInt to print itself.
      return 'toJSON' in BigInt.prototype
        ? undefined
        : 'is a BigInt. Return String(value), or Number(value) if it is small.';
    case 'function':
      return isClass(value) ? 'is a class. Leave it out.' : 'is a function. Call it, or leave it out.';
    case 'symbol':
      return 'is a symbol. Return a string.';
    case 'object':
      return value === null || Array.isArray(value) ? undefined : adviceOnObject(value);
    default:
      return undefined;
  }
}

const BYTES =
  'Return image(bytes, mimeType), audio(bytes, mimeType) or embed(uri, bytes), or encode it as a base64 string.';

/** Advice by the tag of `Object.prototype.toString`, which is the same in every realm. */
const byTag: Readonly<Record<string, string>> = {
  Map: 'is a Map. Return Object.fromEntries(map), or [...map] if its keys are not strings.',
  Set: 'is a Set. Return [...set].',
  WeakMap: 'is a WeakMap, which cannot be listed. Leave it out.',
  WeakSet: 'is a WeakSet, which cannot be listed. Leave it out.',
  Promise: 'is a promise. Await it first.',
  Error: 'is an Error. Throw it, or return its message.',
  DOMException: 'is an Error. Throw it, or return its message.',
  RegExp: 'is a RegExp. Return its source.',
  ArrayBuffer: `is an ArrayBuffer. ${BYTES}`,
  SharedArrayBuffer: `is a SharedArrayBuffer. ${BYTES}`,
  Response: 'is a Response. Return await response.json() or await response.text().',
  Request: 'is a Request. Return await request.json() or await request.text().',
  Blob: `is a Blob. Return await blob.text(), or take its bytes: await blob.arrayBuffer(). ${BYTES}`,
  File: `is a File. Return await file.text(), or take its bytes: await file.arrayBuffer(). ${BYTES}`,
  ReadableStream: 'is a stream. Read it to its end first.',
  Headers: 'is a Headers object. Return Object.fromEntries(headers).',
  FormData: 'is a FormData object. Return Object.fromEntries(formData).',
  URLSearchParams: 'is a URLSearchParams object. Return Object.fromEntries(params).',
  Generator: 'is a generator. Return [...generator].',
  AsyncGenerator: 'is an async generator. Collect its values in an array first.',
};

function adviceOnObject(value: object): string | undefined {
  if (isDate(value))
    return Number.isNaN(value.getTime()) ? 'is an invalid Date. Return null, or leave it out.' : undefined;
  if (ArrayBuffer.isView(value)) return `is a ${tagOf(value)}, which holds bytes. ${BYTES}`;
  if (value instanceof Error) return byTag['Error'];
  const tagAdvice = byTag[tagOf(value)];
  if (tagAdvice !== undefined && Object.hasOwn(byTag, tagOf(value))) return tagAdvice;
  const { then, next, toJSON, pipe } = value as Record<string, unknown>;
  if (typeof toJSON === 'function') return undefined;
  if (typeof then === 'function') return byTag['Promise'];
  if (isPlainObject(value)) return adviceOnSymbols(value);
  if (typeof next === 'function') return 'is an iterator. Collect its values in an array first.';
  if (typeof pipe === 'function') return byTag['ReadableStream'];
  return adviceOnInstance(value);
}

// A boxed scalar prints as the scalar. Of any other instance, JSON sees only its own fields.
function adviceOnInstance(value: object): string | undefined {
  if (tagOf(value) === 'Number') return advice(Number(value));
  if (['String', 'Boolean', 'BigInt'].includes(tagOf(value))) return undefined;
  const name = nameOf(value);
  const plain = `Return a plain object, or give ${name} a toJSON().`;
  const getters = gettersOf(value);
  if (getters.length > 0)
    return `is an instance of ${name}, whose getters (${getters.join(', ')}) JSON leaves out. ${plain}`;
  if (Object.keys(value).length === 0)
    return `is an instance of ${name} without a field that JSON can see. ${plain}`;
  return undefined;
}

// An object whose keys are all symbols would print as {}.
function adviceOnSymbols(value: object): string | undefined {
  if (Object.keys(value).length > 0 || Object.getOwnPropertySymbols(value).length === 0) return undefined;
  if (Symbol.asyncIterator in value) return 'is an async iterable. Collect its values in an array first.';
  if (Symbol.iterator in value) return 'is an iterable. Return [...iterable].';
  return 'has only symbols as keys, which JSON leaves out. Use strings.';
}

function gettersOf(value: object): readonly string[] {
  const names: string[] = [];
  for (
    let prototype: object | null = Object.getPrototypeOf(value);
    prototype !== null && Object.getPrototypeOf(prototype) !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get !== undefined && !Object.hasOwn(value, name)) names.push(name);
    }
  }
  return names.slice(0, 5);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

// Also recognizes a Date of another realm, such as that of node:vm.
function isDate(value: object): value is Date {
  return value instanceof Date || tagOf(value) === 'Date';
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function nameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? shorten(name, 100) : 'a class';
}
