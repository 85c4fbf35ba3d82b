// Turns the answers of a test, by key, into a client's handlers.

import type {
  ElicitFormResult,
  Handlers,
  QuestionContext,
  SamplingResult,
} from '../../client/model/handlers.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ElicitUrlResult } from '../../protocol/model/input.js';

/**
 * The answer of a user or a model to one question. To a form: an object with the fields, or the value of its only field if
 * that field and the question have the same key. To a URL: any value, which means accept. To a sampling request: a string, or a
 * whole `SamplingResult`. An object with an `action`, such as `{ action: 'decline' }`, is sent as it is. A function receives the
 * question and returns the answer.
 */
type TestHandler =
  | Readonly<JsonObject>
  | string
  | boolean
  | ((question: {
      /** The message of a form or URL; for a sampling request, its last message as JSON. */
      readonly message: string;
    }) => Readonly<JsonObject> | string | boolean);

/** Answers by the key of the question. A question without an answer here goes to the client's handler, or fails. */
export type TestHandlers = Readonly<Record<string, TestHandler>>;

/** Handlers that give these answers. A question without one goes to `otherwise`, or fails with an error that names it. */
export function toHandlers(answers: TestHandlers, otherwise: Handlers): Handlers {
  const { elicit, sample } = otherwise;
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const url = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  function find<Q, A>(
    question: Q & { readonly message: string },
    context: QuestionContext,
    next: ((question: Q, context: QuestionContext) => A) | undefined,
  ): { readonly value: unknown } | { readonly answer: A } {
    const { key } = context;
    if (key !== undefined && Object.hasOwn(answers, key)) {
      const answer = answers[key];
      return { value: typeof answer === 'function' ? answer(question) : answer };
    }
    if (next !== undefined) return { answer: next(question, context) };
    const name = key === undefined ? 'a question without a key' : JSON.stringify(key);
    throw new McpError(
      'invalid_request',
      `The test has no answer to ${name} (${JSON.stringify(question.message)}). It has: ${Object.keys(answers).join(', ') || 'none'}. Add the missing one to \`answers\`, or pass a handler.`,
    );
  }

  return {
    ...otherwise,
    elicit: {
      form(question, context) {
        const match = find(question, context, form);
        if ('answer' in match) return match.answer;
        const { value } = match;
        if (isAction(value)) return value as unknown as ElicitFormResult;
        return { action: 'accept', content: isObject(value) ? value : { [context.key as string]: value } };
      },
      url(question, context) {
        const match = find(question, context, url);
        if ('answer' in match) return match.answer;
        return isAction(match.value) ? (match.value as unknown as ElicitUrlResult) : { action: 'accept' };
      },
    },
    sample: {
      tools: true,
      context: true,
      run(request, context) {
        const message = JSON.stringify(request.messages.at(-1)?.content ?? '');
        const match = find({ ...request, message }, context, run);
        if ('answer' in match) return match.answer;
        return isObject(match.value)
          ? (match.value as unknown as SamplingResult)
          : modelMessage(String(match.value));
      },
    },
  };
}

function modelMessage(text: string): SamplingResult {
  return { role: 'assistant', content: { type: 'text', text }, model: 'test', stopReason: 'endTurn' };
}

function isAction(value: unknown): boolean {
  return isObject(value) && typeof value['action'] === 'string';
}
