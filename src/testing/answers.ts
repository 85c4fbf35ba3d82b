// Answers to a server's questions, by key, for tests.

import type {
  ElicitFormResult,
  Handlers,
  QuestionContext,
  SamplingResult,
} from '../client/model/handlers.js';
import { isObject, type JsonObject } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';
import type { ElicitUrlResult } from '../protocol/model/input.js';

/**
 * An answer of a user or a model. To a form: the fields, or the value of a form's only field, named like the key. To a page:
 * anything accepts. To a model's request: a string, or a whole `SamplingResult`. An object with an `action` is sent as it is; a
 * function receives the question.
 */
export type TestHandler =
  | Readonly<JsonObject>
  | string
  | boolean
  | ((question: {
      /** The question: a form's or page's message, or the last message of a model's request as JSON. */
      readonly message: string;
    }) => Readonly<JsonObject> | string | boolean);

/** Answers by the key under which the server asks. A question without an answer fails, unless a handler takes it. */
export type TestHandlers = Readonly<Record<string, TestHandler>>;

/** Handlers that give those answers. A question that has none goes to `otherwise`, or is an error that names it. */
export function answering(answers: TestHandlers, otherwise: Handlers): Handlers {
  const { elicit, sample } = otherwise;
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const visit = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  function find<Q, A>(
    question: Q & { readonly message: string },
    asked: QuestionContext,
    next: ((question: Q, asked: QuestionContext) => A) | undefined,
  ): { readonly value: unknown } | { readonly answer: A } {
    const { key } = asked;
    if (key !== undefined && Object.hasOwn(answers, key)) {
      const answer = answers[key];
      return { value: typeof answer === 'function' ? answer(question) : answer };
    }
    if (next !== undefined) return { answer: next(question, asked) };
    const named = key === undefined ? 'a question without a key' : JSON.stringify(key);
    throw new McpError(
      'invalid_request',
      `The test has no answer to ${named} (${JSON.stringify(question.message)}). It has: ${Object.keys(answers).join(', ') || 'none'}.`,
    );
  }

  return {
    ...otherwise,
    elicit: {
      form(question, asked) {
        const found = find(question, asked, form);
        if ('answer' in found) return found.answer;
        const { value } = found;
        if (isAction(value)) return value as unknown as ElicitFormResult;
        return { action: 'accept', content: isObject(value) ? value : { [asked.key as string]: value } };
      },
      url(question, asked) {
        const found = find(question, asked, visit);
        if ('answer' in found) return found.answer;
        return isAction(found.value) ? (found.value as unknown as ElicitUrlResult) : { action: 'accept' };
      },
    },
    sample: {
      tools: true,
      context: true,
      run(request, asked) {
        const message = JSON.stringify(request.messages.at(-1)?.content ?? '');
        const found = find({ ...request, message }, asked, run);
        if ('answer' in found) return found.answer;
        return isObject(found.value) ? (found.value as unknown as SamplingResult) : said(String(found.value));
      },
    },
  };
}

function said(text: string): SamplingResult {
  return { role: 'assistant', content: { type: 'text', text }, model: 'test', stopReason: 'endTurn' };
}

function isAction(value: unknown): boolean {
  return isObject(value) && typeof value['action'] === 'string';
}
