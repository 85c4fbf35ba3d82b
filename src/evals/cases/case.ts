// The cases of an eval, as authors write them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type OptionTable, optionMistakes } from '../../protocol/checks/options.js';
import type { Schema } from '../../schema/schema.js';
import type { TestHandlers } from '../../testing/test-client/answers.js';

/**
 * The arguments of an expected call. An object is a part of them: its values are compared, an object in it is a part again, an array has as
 * many items. A regular expression, a Standard Schema and a function decide about the value in their place, or about all arguments.
 */
export type ExpectedArgs = Readonly<Record<string, unknown>> | ((args: JsonObject) => boolean) | Schema;

/** The options of `call`. */
export interface CallExpectationOptions {
  /** Whether other arguments than the expected ones are a mistake. Default: false. */
  readonly exact?: boolean;
}

/** A call that a model is expected to make. */
export interface ExpectedToolCall {
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments; undefined if any will do. */
  readonly args: ExpectedArgs | undefined;
  /** Whether other arguments are a mistake. */
  readonly exact: boolean;
}

/** A case: a request of a user, and what a model that understands the tools does about it. */
export interface EvalCase {
  /** The request of the user. */
  readonly ask: string;
  /** The name in reports and on tapes. Default: the request. */
  readonly name?: string;
  /**
   * The calls that the model makes, in their order; others may come between them. An empty array: no call at all. Default: any calls.
   */
  readonly expect?: string | ExpectedToolCall | readonly (string | ExpectedToolCall)[];
  /** Whether the order of the expected calls is of no importance. Default: false. */
  readonly anyOrder?: boolean;
  /** The names of tools that the model must not call. Default: none. */
  readonly not?: readonly string[];
  /** The last words of the model: a string that they contain, a regular expression, or a function that decides. Default: any. */
  readonly answer?: string | RegExp | ((text: string) => boolean);
  /**
   * The answers to the questions of the server, by their keys, as `answers` of `testClient` has them. Each of them must be asked, and no
   * other. Default: none.
   */
  readonly asks?: TestHandlers;
  /** A sentence that a second model judges the whole conversation by. Needs `judge` in the options. Default: not judged. */
  readonly judge?: string;
  /** The names of the tools that the model gets. Default: all that the server lists. */
  readonly tools?: readonly string[];
  /** The number of runs. Default: that of the options. */
  readonly runs?: number;
  /** The share of runs that must pass, up to 1. Default: 1. */
  readonly need?: number;
}

const caseTable = {
  ask: { is: 'string', required: true },
  name: 'string',
  expect: 'any',
  anyOrder: 'boolean',
  not: 'strings',
  answer: 'any',
  asks: 'object',
  judge: 'string',
  tools: 'strings',
  runs: { is: 'count', max: 1000 },
  need: { is: 'number', max: 1 },
} as const satisfies OptionTable<EvalCase>;

/** A case whose parts have been checked. */
export interface ReadCase extends EvalCase {
  readonly name: string;
  /** The expected calls; undefined if any will do. */
  readonly calls: readonly ExpectedToolCall[] | undefined;
}

const MAX_CASES = 10_000;

/**
 * An expected call, with its arguments.
 * @example
 * ```ts
 * call('create_invoice', { amount: 30, customer: /ada/i });
 * ```
 */
export function call(
  tool: string,
  args?: ExpectedArgs,
  { exact = false }: CallExpectationOptions = {},
): ExpectedToolCall {
  if (typeof tool !== 'string' || tool === '')
    throw new TypeError('call needs the name of a tool: call("create_invoice", { amount: 30 }).');
  if (args !== undefined && !isObject(args) && typeof args !== 'function')
    throw new TypeError(`call("${tool}"): the arguments must be an object, a schema or a function.`);
  return { tool, args, exact };
}

/** Checks all cases. Throws a `TypeError` that names every mistake. */
export function readCases(cases: unknown): readonly ReadCase[] {
  if (!Array.isArray(cases) || cases.length === 0 || cases.length > MAX_CASES)
    throw new TypeError(`evals needs an array of 1 to ${MAX_CASES} cases: evals(server, [{ ask: "…" }]).`);
  const names = new Set<string>();
  const mistakes: string[] = [];
  const read = cases.map((one: unknown, at) => {
    const place = `cases[${at}]`;
    const found = optionMistakes('', one, caseTable, { path: `${place}.` });
    mistakes.push(...(found.length > 0 ? found : moreMistakes(one as EvalCase, place, names)));
    return found.length > 0 ? undefined : toReadCase(one as EvalCase);
  });
  if (mistakes.length > 0) throw new TypeError(`evals: ${mistakes.join('\n')}`);
  return read.filter((one) => one !== undefined);
}

function toReadCase(one: EvalCase): ReadCase {
  const { ask, name = ask, expect } = one;
  return { ...one, name, calls: expect === undefined ? undefined : [expect].flat().map(toCall) };
}

function toCall(expected: string | ExpectedToolCall): ExpectedToolCall {
  return typeof expected === 'string' ? call(expected) : expected;
}

function moreMistakes(one: EvalCase, place: string, names: Set<string>): readonly string[] {
  const { ask, name = ask, expect = [], answer = '' } = one;
  const isRepeated = names.has(name);
  names.add(name);
  const isAnswer = typeof answer === 'string' || typeof answer === 'function' || answer instanceof RegExp;
  return [
    ...(ask.trim() === '' ? [`"${place}.ask" is empty.`] : []),
    ...(isRepeated
      ? [`"${place}" has the name ${JSON.stringify(name)} of another case. Give it a name of its own.`]
      : []),
    ...([expect].flat().every(isExpected)
      ? []
      : [`"${place}.expect" must be names of tools, or calls: call("create_invoice", { amount: 30 }).`]),
    ...(isAnswer ? [] : [`"${place}.answer" must be a string, a regular expression or a function.`]),
  ];
}

function isExpected(value: unknown): boolean {
  return (
    (typeof value === 'string' && value !== '') || (isObject(value) && typeof value['tool'] === 'string')
  );
}
