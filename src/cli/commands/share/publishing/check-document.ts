// Reads JSON documents of a project, and checks them against schemas.

import { readFileSync, statSync } from 'node:fs';
import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { compileSchema } from '../../../../schema/compile.js';
import { explain } from '../../../../schema/explain/explain.js';
import { FoundError, usageError } from '../../../command/failures.js';
import type { Output } from '../../../terminal/output.js';

const MAX_BYTES = 1_000_000;

/** The problems of a value, a sentence each. */
export function schemaProblems(value: unknown, schema: JsonObject): readonly string[] {
  const compiled = compileSchema(schema, { io: 'output' });
  const result = compiled.validate(value);
  if (result instanceof Promise || result.ok) return [];
  return explain(result.issues, compiled, value)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Reads a JSON object from a file; undefined if there is no such file. */
export function readDocument(path: string): JsonObject | undefined {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 1 MB');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`The file ${path} cannot be read: ${message}.`);
  }
  return parseDocument(text, path);
}

/** Reads a JSON object, and names its source if it is something else. */
export function parseDocument(text: string, source: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${source} is not JSON: ${(error as Error).message}`);
  }
  if (isObject(value)) return value;
  throw usageError(`${source} must have a JSON object.`);
}

/** Prints problems and fails with exit code 1, if there are any. */
export function failOn(problems: readonly string[], { about, more, out }: Failing): void {
  if (problems.length === 0) return;
  for (const problem of problems) out.value(`- ${problem}`);
  const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`;
  throw new FoundError(`${about} has ${count}.`, { ok: false, ...more, problems });
}

interface Failing {
  /** The document that has the problems. */
  readonly about: string;
  /** More fields of the answer. */
  readonly more: object;
  readonly out: Output;
}

/** A field of a document, if it is a string. */
export function text(document: JsonObject | undefined, name: string): string | undefined {
  const value = document?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether a string is an http or https URL. */
export function isWebUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}
