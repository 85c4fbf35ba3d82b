// An API of models for `mockModel`: its address, what it refuses, and how it prints a reply.

import type { IncomingHttpHeaders } from 'node:http';
import { printEvent } from '../../jsonrpc/event-stream.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { PrintedAnswer } from './turn.js';

/** The names of the APIs, as `toTools` has them. */
export type ModelApi = 'anthropic' | 'openai' | 'openai-chat';

/** A result of a tool that the model is told. */
export interface ToldResult {
  /** The id of the call. */
  readonly id: string;
  /** The text of the result; parts that are not text are left out. */
  readonly text: string;
  /** Whether the tool failed, as far as the API says it. */
  readonly isError: boolean;
}

/** The parts of a request that scripts decide by. */
export interface Asked {
  /** The system prompt. */
  readonly system: string;
  /** The last message of the user. */
  readonly ask: string;
  /** The results of the calls that the model made in its last reply. */
  readonly results: readonly ToldResult[];
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
}

export interface MockedApi {
  readonly name: ModelApi;
  readonly path: string;
  /** The reason to refuse a request with status 400, as the real API would; undefined if it is fine. */
  readonly problem: (body: JsonObject, headers: IncomingHttpHeaders) => string | undefined;
  readonly asked: (body: JsonObject) => Asked;
  readonly whole: (answer: PrintedAnswer) => JsonObject;
  readonly events: (answer: PrintedAnswer, body: JsonObject) => readonly string[];
  readonly failure: (failure: ApiFailure) => JsonObject;
  /** The event of a stream that fails after it has begun. */
  readonly failureEvent: () => string;
}

export interface ApiFailure {
  readonly status: number;
  readonly kind: string | undefined;
  readonly message: string;
}

export function dataEvent(data: unknown, event?: string): string {
  return printEvent({ data: typeof data === 'string' ? data : JSON.stringify(data), event });
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The text of content that is a string or an array of parts. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

/** The reason to refuse the names of tools; undefined if they are fine. */
export function nameProblem(names: readonly unknown[]): string | undefined {
  const wrong = names.findIndex((name) => typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name));
  if (wrong >= 0) return `tools.${wrong}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `tools: Tool names must be unique: ${String(twice)}`;
}

/** The reason to refuse results that do not belong to the calls before them, or calls without a result; undefined if they fit. */
export function pairProblem(calls: readonly unknown[], results: readonly unknown[]): string | undefined {
  const stray = results.find((id) => !calls.includes(id));
  if (stray !== undefined)
    return `The result of ${JSON.stringify(stray)} does not belong to a call of the message before it.`;
  const open = calls.find((id) => !results.includes(id));
  return open === undefined ? undefined : `The call ${JSON.stringify(open)} has no result after it.`;
}
