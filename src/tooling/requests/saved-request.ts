// Requests that a project keeps in `mcp.requests.json`: their types, the schema of the file, and how its text is read and written.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { parseStrictly, RefusedJson } from '../../jsonrpc/parse.js';
import { canonical } from '../../protocol/canonical.js';
import { faultOf, repeatedNameIn } from '../../protocol/encoding/json-fault.js';
import { compileSchema } from '../../schema/compile.js';
import { explain } from '../../schema/explain/explain.js';
import { cleanLine } from '../clean.js';
import { REQUESTS_SCHEMA } from './requests-schema.js';

/** The name of the file. */
export const REQUESTS_FILE = 'mcp.requests.json';

/** The kinds of requests, and the list of definitions that each belongs to. */
export const KINDS = { tool: 'tools', resource: 'resources', prompt: 'prompts' } as const;

export type RequestKind = keyof typeof KINDS;
export type SavedList = (typeof KINDS)[RequestKind];

/** A request with a name, and what is expected of its result. One of `tool`, `resource` and `prompt` is there. */
export interface SavedRequest {
  readonly name: string;
  readonly tool?: string;
  readonly resource?: string;
  readonly prompt?: string;
  readonly arguments?: JsonObject;
  /** The fields of the forms that the server asks for, by name or as `key.name`; or what happens to every question. */
  readonly answers?: JsonObject | 'decline' | 'cancel';
  readonly expect?: Expectation;
}

/** The expectations of a result. Without any, the request must succeed. */
export interface Expectation {
  /** The whole value. */
  readonly equal?: unknown;
  /** Fields that `equal` leaves out: names, or ends of paths such as `order.total`. */
  readonly ignore?: readonly string[];
  /** A string that is in the text, or fields and items that are in the value. */
  readonly contains?: unknown;
  /** A JSON Schema of the value. */
  readonly matches?: JsonObject;
  /** The request must fail: in any way, or with this code or these words in its message. */
  readonly fails?: true | string;
}

/** The definitions that requests use, as they were when the file was written. */
type SavedDefinitions = Readonly<Partial<Record<SavedList, Readonly<Record<string, JsonObject>>>>>;

export interface SavedRequests {
  readonly $schema?: string;
  readonly version: 1;
  /** The server of the project: a file below its folder. */
  readonly target?: string;
  /** The environment variables that values may use. */
  readonly env?: readonly string[];
  readonly requests: readonly SavedRequest[];
  readonly definitions?: SavedDefinitions;
}

export const NO_REQUESTS: SavedRequests = { version: 1, requests: [] };

export const MAX_FILE_BYTES = 5_000_000;
const MAX_LEVELS = 200;

/** A file of requests that cannot be used. The message says what to do, and never quotes a value of the file. */
export class RequestsError extends Error {
  override readonly name = 'RequestsError';
}

/** The kind of a request, and the name or URI that it has. */
export function subjectOf(request: SavedRequest): { readonly kind: RequestKind; readonly subject: string } {
  for (const kind of Object.keys(KINDS) as RequestKind[]) {
    const subject = request[kind];
    if (subject !== undefined) return { kind, subject };
  }
  throw new RequestsError(`The request ${JSON.stringify(request.name)} names no tool, resource or prompt.`);
}

/** Reads the text of a file. Throws a `RequestsError` that names the place of each mistake. */
export function parseRequests(text: string, file: string = REQUESTS_FILE): SavedRequests {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const value = parseStrictly(json, MAX_LEVELS);
  if (value instanceof RefusedJson) throw refused(json, value, file);
  const repeated = repeatedNameIn(json);
  if (repeated) throw wrong(file, `line ${repeated.line}, column ${repeated.column}: ${repeated.reason}`);
  const format = (value as { version?: unknown } | null)?.version;
  if (typeof format === 'number' && format !== 1)
    throw wrong(file, `it has version ${format}, and this fullmcp reads version 1. Update fullmcp`);
  compiled ??= compileSchema(REQUESTS_SCHEMA, { io: 'output' });
  const result = compiled.validate(value);
  if (!(result instanceof Promise) && !result.ok)
    throw wrong(file, `\n${explain(result.issues, compiled, value)}`);
  const requests = value as SavedRequests;
  const mistake = requests.requests.map(mistakeIn).find((one) => one !== undefined) ?? fileMistake(requests);
  if (mistake !== undefined) throw wrong(file, mistake);
  return requests;
}

let compiled: ReturnType<typeof compileSchema> | undefined;

function refused(json: string, { fault }: RefusedJson, file: string): RequestsError {
  if (fault !== 'syntax') return wrong(file, 'it is nested too deep, or has a number that is too large');
  const { line, column, reason } = faultOf(json);
  return wrong(file, `line ${line}, column ${column}: ${reason}`);
}

function wrong(file: string, what: string): RequestsError {
  const end = /[.!]$/.test(what) ? '' : '.';
  return new RequestsError(`${file} cannot be used:${what.startsWith('\n') ? '' : ' '}${what}${end}`);
}

/** A mistake that the schema cannot say in a sentence that helps. */
function mistakeIn(request: SavedRequest, at: number): string | undefined {
  const { name, expect = {} } = request;
  const place = `requests[${at}] (${cleanLine(name, 60)})`;
  const kinds = (Object.keys(KINDS) as RequestKind[]).filter((kind) => request[kind] !== undefined);
  if (kinds.length !== 1) return `${place} needs one of "tool", "resource" and "prompt"`;
  if (request.resource !== undefined && request.arguments !== undefined)
    return `${place} reads a resource, which takes no "arguments"`;
  const { arguments: args = {} } = request;
  const isText = Object.values(args).every((value) => typeof value === 'string');
  if (request.prompt !== undefined && !isText) return `${place}: the arguments of a prompt are strings`;
  if (expect.fails !== undefined && Object.keys(expect).length > 1)
    return `${place}: "fails" excludes the other expectations`;
  if (expect.ignore !== undefined && expect.equal === undefined)
    return `${place}: "ignore" is for "equal", which is missing`;
  return schemaMistake(expect.matches, place);
}

function schemaMistake(schema: JsonObject | undefined, place: string): string | undefined {
  if (schema === undefined) return undefined;
  if (hasVariableInPattern(schema))
    return `${place}: a pattern of "matches" has "$\u007b" in it, and a variable cannot be a part of an expression. Expect its value with "contains", "equal" or "const". For the characters themselves, write "\\\\$\\\\{"`;
  try {
    const [slow] = compileSchema(schema, { io: 'output' }).document.slowPatterns;
    if (slow !== undefined)
      return `${place}: "matches" has a pattern that may take forever: ${cleanLine(slow, 150)}`;
    return undefined;
  } catch (error) {
    return `${place}: "matches" is not a schema that can be checked. ${cleanLine((error as Error).message, 300)}`;
  }
}

/** The keywords whose values are not schemas. */
const PLAIN: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Whether a pattern names a variable, whose value would be read as an expression. */
function hasVariableInPattern(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasVariableInPattern);
  if (!isObject(schema)) return false;
  const { pattern, patternProperties } = schema;
  const patterns = [pattern, ...(isObject(patternProperties) ? Object.keys(patternProperties) : [])];
  return (
    patterns.some((one) => typeof one === 'string' && one.includes('$\u007b')) ||
    Object.entries(schema).some(([name, inner]) => !PLAIN.has(name) && hasVariableInPattern(inner))
  );
}

function fileMistake({ requests, target }: SavedRequests): string | undefined {
  const names = new Set<string>();
  for (const { name } of requests) {
    if (names.has(name)) return `two requests have the name ${JSON.stringify(cleanLine(name, 100))}`;
    names.add(name);
  }
  if (target !== undefined && !isOwnTarget(target))
    return '"target" must be a file below its folder, such as src/server.ts. Type any other target: fullmcp test <target>';
  return undefined;
}

/**
 * Whether a file may name this target. The file may come from anybody, so it names no address, to which values of variables would be sent,
 * no server that the user has configured elsewhere, and nothing outside of its folder.
 */
export function isOwnTarget(target: string): boolean {
  const isInside = !target.split('/').some((part) => part === '..' || part === '');
  return isInside && /^[\w@.][\w@./ -]*\.(?:[cm]?[jt]s|py)$/.test(target);
}

/** The text of a file. The same requests have the same text: fields are in one order, and definitions are sorted. */
export function writeRequests({
  $schema,
  version,
  target,
  env,
  requests,
  definitions,
}: SavedRequests): string {
  const value = {
    $schema,
    version,
    target,
    env,
    requests: requests.map(orderedRequest),
    definitions: definitions && orderedDefinitions(definitions),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function orderedRequest(request: SavedRequest): SavedRequest {
  const { name, tool, resource, prompt, arguments: args, answers, expect } = request;
  const expected = expect && {
    equal: expect.equal,
    ignore: expect.ignore,
    contains: expect.contains,
    matches: expect.matches,
    fails: expect.fails,
  };
  return { name, tool, resource, prompt, arguments: args, answers, expect: expected } as SavedRequest;
}

function orderedDefinitions(definitions: SavedDefinitions): SavedDefinitions | undefined {
  const lists = Object.values(KINDS)
    .filter((list) => Object.keys(definitions[list] ?? {}).length > 0)
    .map((list) => [list, sorted(definitions[list] ?? {})] as const);
  return lists.length === 0 ? undefined : Object.fromEntries(lists);
}

// By code units: the order must not depend on the language of the machine.
function sorted(record: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The file with a request more, or with this one in the place of the request of the same name. */
export function withRequest(file: SavedRequests, request: SavedRequest): SavedRequests {
  const at = file.requests.findIndex(({ name }) => name === request.name);
  const requests = at === -1 ? [...file.requests, request] : file.requests.with(at, request);
  return { ...file, requests };
}

/** The file without a request, and without definitions that no other request uses. */
export function withoutRequest(file: SavedRequests, name: string): SavedRequests {
  const requests = file.requests.filter((request) => request.name !== name);
  const used = new Set(requests.map((request) => canonical(subjectOf(request))));
  const definitions = Object.fromEntries(
    (Object.entries(KINDS) as [RequestKind, SavedList][]).map(([kind, list]) => [
      list,
      Object.fromEntries(
        Object.entries(file.definitions?.[list] ?? {}).filter(([subject]) =>
          used.has(canonical({ kind, subject })),
        ),
      ),
    ]),
  );
  return { ...file, requests, definitions };
}

/** The file with a definition as it is now. */
export function withDefinition(
  file: SavedRequests,
  list: SavedList,
  [name, definition]: readonly [string, JsonObject],
): SavedRequests {
  const { definitions = {} } = file;
  const changed = Object.fromEntries([...Object.entries(definitions[list] ?? {}), [name, definition]]);
  return { ...file, definitions: { ...definitions, [list]: changed } };
}
