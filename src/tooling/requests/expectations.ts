// Compares the result of a saved request with what is expected of it, and says each difference in a sentence.

import type { CallResult, PromptResult, ReadResult } from '../../client/model/results.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import { compileSchema } from '../../schema/compile.js';
import { explain } from '../../schema/explain/explain.js';
import { jsonTypesOf } from '../../schema/read/across-branches.js';
import { cleanLine } from '../clean.js';
import { compareValues, type ValueChange } from '../tape/compare-values.js';
import type { RequestValues } from './request-values.js';
import { type Expectation, RequestsError } from './saved-request.js';

/** The result of a request, in the form that is compared. */
export type RequestOutcome =
  | {
      readonly ok: true;
      /** The structured content, or else the text; of a result with other content, its parts with digests of their bytes. */
      readonly value: unknown;
      readonly text: string;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** A difference from what is expected. */
export interface RequestProblem {
  readonly kind: 'value' | 'failure' | 'question' | 'description' | 'schema' | 'definition';
  /** One sentence. Clean, and without secrets. */
  readonly says: string;
}

const MAX_JSON_TEXT = 1_000_000;
const MAX_CHANGES = 10;
const MAX_SHOWN = 120;
const CONTEXT = 20;
const MAX_STEPS = 1_000_000;

/** The outcome of a tool: a tool that answers with an error has failed. */
export async function toolOutcome({ isError, data, text, content }: CallResult): Promise<RequestOutcome> {
  if (isError) return { ok: false, code: 'tool_failed', message: text };
  if (data !== undefined) return { ok: true, value: data, text };
  return { ok: true, value: await contentValue(content, text), text };
}

/** The outcome of a resource that was read. */
export async function resourceOutcome({
  contents,
  text,
}: Pick<ReadResult, 'contents' | 'text'>): Promise<RequestOutcome> {
  return { ok: true, value: await contentValue(contents, text), text };
}

/** The outcome of a prompt: its messages. */
export async function promptOutcome({ messages }: Pick<PromptResult, 'messages'>): Promise<RequestOutcome> {
  const text = messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('\n');
  const value = await Promise.all(
    messages.map(async ({ role, content }) =>
      content.type === 'text'
        ? { role, text: content.text }
        : { role, content: await withDigests(content as unknown as JsonObject) },
    ),
  );
  return { ok: true, value, text };
}

/** The outcome of a request that was refused. Throws what is not an error of the protocol. */
export function failedOutcome(error: unknown): RequestOutcome {
  if (!McpError.is(error)) throw error;
  return { ok: false, code: error.code, message: error.message };
}

/** Every difference between an outcome and what is expected of it. */
export function unmet(
  expect: Expectation,
  outcome: RequestOutcome,
  values: RequestValues,
): readonly RequestProblem[] {
  const { fails } = expect;
  return fails === undefined ? ofSuccess(expect, outcome, values) : ofFailure(fails, outcome, values);
}

function ofFailure(
  fails: true | string,
  outcome: RequestOutcome,
  values: RequestValues,
): readonly RequestProblem[] {
  const wanted =
    fails === true
      ? 'It was expected to fail'
      : `It was expected to fail with ${quoted(values.shown(fails))}`;
  if (outcome.ok)
    return [
      { kind: 'failure', says: `${wanted}, and it succeeded with ${quoted(values.shown(outcome.value))}.` },
    ];
  if (fails === true || outcome.code === fails || outcome.message.includes(fails)) return [];
  return [{ kind: 'failure', says: `${wanted}, and it failed with ${failureWords(outcome, values)}.` }];
}

function ofSuccess(
  expect: Expectation,
  outcome: RequestOutcome,
  values: RequestValues,
): readonly RequestProblem[] {
  if (!outcome.ok) return [{ kind: 'failure', says: `It failed with ${failureWords(outcome, values)}.` }];
  const { equal, ignore = [], contains, matches } = expect;
  const says = [
    ...(equal === undefined ? [] : differences(equal, comparable(equal, outcome), { ignore, values })),
    ...(contains === undefined ? [] : lacking(contains, outcome, values)),
    ...(matches === undefined ? [] : misfits(matches, outcome.value, values)),
  ];
  return says.map((sentence) => ({ kind: 'value', says: sentence }));
}

function failureWords({ code, message }: { code: string; message: string }, values: RequestValues): string {
  return `${quoted(values.shown(message))} (${cleanLine(code, 60)})`;
}

/** The value that is compared with an expected one: the text if a string is expected, and what JSON in the text says otherwise. */
function comparable(expected: unknown, outcome: RequestOutcome & { ok: true }): unknown {
  const { value, text } = outcome;
  if (typeof expected === 'string') return typeof value === 'string' ? value : text;
  return typeof value === 'string' && value.length <= MAX_JSON_TEXT ? (tryParse(value) ?? value) : value;
}

interface Compared {
  readonly ignore: readonly string[];
  readonly values: RequestValues;
}

function differences(expected: unknown, actual: unknown, { ignore, values }: Compared): readonly string[] {
  const changes = compareValues(expected, actual, { ignore, strict: true, isWhole: true });
  const shown = changes.slice(0, MAX_CHANGES).map((change) => differenceWords(change, values));
  const more = changes.length - shown.length;
  return more > 0 ? [...shown, `${more} more ${more === 1 ? 'place differs' : 'places differ'}.`] : shown;
}

/** A change of a value in a sentence. */
function differenceWords({ path, change, before, after }: ValueChange, values: RequestValues): string {
  const place = path === '' ? 'The result' : cleanLine(path, 120);
  const field = path.split('.').at(-1) ?? '';
  const [was, is] = [values.shown(before, field), values.shown(after, field)];
  switch (change) {
    case 'added':
      return `${place} is ${quoted(is)}, and was not expected.`;
    case 'removed':
      return `${place} is missing; ${quoted(was)} was expected.`;
    case 'changed': {
      const at = firstDifference(was, is);
      return `${place} is ${quoted(is, at)}; ${quoted(was, at)} was expected.`;
    }
  }
}

/** The sentence that something was one value and is another. */
export function wasAndIs(what: string, was: unknown, is: unknown): string {
  const at = firstDifference(was, is);
  return `${what} was ${quoted(was, at)} and is ${quoted(is, at)}.`;
}

/** A value on one line, around a position. */
function quoted(value: unknown, at = 0): string {
  if (value === undefined) return 'not set';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const start = text.length <= MAX_SHOWN ? 0 : Math.max(0, at - CONTEXT);
  const part = cleanLine(text.slice(start), MAX_SHOWN);
  const whole = typeof value === 'string' ? JSON.stringify(part) : part;
  return start > 0 ? `…${whole}` : whole;
}

function firstDifference(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}

function lacking(
  wanted: unknown,
  outcome: RequestOutcome & { ok: true },
  values: RequestValues,
): readonly string[] {
  if (typeof wanted === 'string') {
    const { value, text } = outcome;
    const where = typeof value === 'string' ? value : text || JSON.stringify(value);
    return where.includes(wanted)
      ? []
      : [`The text does not contain ${quoted(values.shown(wanted))}; it is ${quoted(values.shown(where))}.`];
  }
  const place = missingPlace(wanted, comparable(wanted, outcome), { path: '', steps: { left: MAX_STEPS } });
  if (place === undefined) return [];
  const { path, expected, actual } = place;
  const field = path.split('.').at(-1) ?? '';
  const [was, is] = [quoted(values.shown(expected, field)), quoted(values.shown(actual, field))];
  return [`${path === '' ? 'The result' : cleanLine(path, 120)} is ${is}, which does not contain ${was}.`];
}

interface MissingPlace {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

interface Search {
  readonly path: string;
  /** Each wanted item may be compared with each item that is there, so that the work is bounded. */
  readonly steps: { left: number };
}

/** The first place at which a value lacks what is wanted. */
function missingPlace(wanted: unknown, actual: unknown, { path, steps }: Search): MissingPlace | undefined {
  if (--steps.left < 0)
    throw new RequestsError('The result has too many items to look for those of "contains".');
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    const has = (item: unknown): boolean =>
      actual.some((one) => missingPlace(item, one, { path, steps }) === undefined);
    const lost = wanted.findIndex((item) => !has(item));
    return lost === -1 ? undefined : { path, expected: wanted[lost], actual };
  }
  if (isObject(wanted) && isObject(actual)) {
    for (const [name, inner] of Object.entries(wanted)) {
      const found = Object.hasOwn(actual, name) ? actual[name] : undefined;
      const missing = missingPlace(inner, found, { path: path === '' ? name : `${path}.${name}`, steps });
      if (missing) return missing;
    }
    return undefined;
  }
  const isSame = compareValues(wanted, actual, { ignore: [], strict: true, isWhole: true }).length === 0;
  return isSame ? undefined : { path, expected: wanted, actual };
}

function misfits(schema: JsonObject, value: unknown, values: RequestValues): readonly string[] {
  const compiled = compileSchema(schema, { io: 'output' });
  const actual = typeof value === 'string' && !isAboutText(schema) ? (tryParse(value) ?? value) : value;
  const result = compiled.validate(actual);
  if (result instanceof Promise || result.ok) return [];
  // The sentences quote the value, so they are made of one without secrets.
  const shown = values.shown(actual);
  const explained = compiled.validate(shown);
  if (explained instanceof Promise || explained.ok)
    return ['The result does not match the schema, in a field that is a secret.'];
  // The schema may have variables in it, too.
  const why = values.shown(explain(explained.issues, compiled, shown));
  return [`The result does not match the schema: ${cleanLine(why, 500)}`];
}

const TEXT_KEYWORDS = ['pattern', 'minLength', 'maxLength', 'format'];

/** Whether a schema describes text: then text that could be read as JSON is not. */
function isAboutText(schema: JsonObject): boolean {
  return (
    jsonTypesOf(schema, schema).has('string') || TEXT_KEYWORDS.some((name) => schema[name] !== undefined)
  );
}

async function contentValue(parts: readonly object[], text: string): Promise<unknown> {
  const blocks = parts as readonly JsonObject[];
  const isText = blocks.every((part) => typeof part['text'] === 'string');
  return isText ? text : await Promise.all(blocks.map(withDigests));
}

/** A part of a result whose bytes are replaced by their digest: a file of requests is not a place for pictures. */
async function withDigests(part: JsonObject): Promise<JsonObject> {
  const { _meta, annotations, data, blob, resource, ...rest } = part;
  const bytes = typeof data === 'string' ? data : blob;
  return {
    ...rest,
    ...(isObject(resource) && { resource: await withDigests(resource) }),
    ...(typeof bytes === 'string' && { sha256: await digestOf(bytes) }),
  };
}

async function digestOf(base64: string): Promise<string> {
  const bytes = decodeBase64(base64) ?? new TextEncoder().encode(base64);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
