// Answers to a server's questions, by key, for tests.

import type { Asked, FormAnswer, Handlers, SamplingAnswer, VisitAnswer } from '../client/model/handlers.js';
import { isObject, type JsonObject } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';

/**
 * An answer of a user or a model. To a form: the fields, or the value of a form's only field, named like the key. To a page:
 * anything accepts. To a model's request: a string, or a whole `SamplingAnswer`. An object with an `action` is sent as it is; a
 * function receives the question.
 */
export type TestAnswer =
  | Readonly<JsonObject>
  | string
  | boolean
  | ((question: {
      /** The question: a form's or page's message, or the last message of a model's request as JSON. */
      readonly message: string;
    }) => Readonly<JsonObject> | string | boolean);

/** Answers by the key under which the server asks. A question without an answer fails, unless a handler takes it. */
export type TestAnswers = Readonly<Record<string, TestAnswer>>;

/** Handlers that give those answers. A question that has none goes to `otherwise`, or is an error that names it. */
export function answering(answers: TestAnswers, otherwise: Handlers): Handlers {
  const { elicit, sample } = otherwise;
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const visit = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  function find<Q, A>(
    question: Q & { readonly message: string },
    asked: Asked,
    next: ((question: Q, asked: Asked) => A) | undefined,
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
        if (isAction(value)) return value as unknown as FormAnswer;
        return { action: 'accept', content: isObject(value) ? value : { [asked.key as string]: value } };
      },
      url(question, asked) {
        const found = find(question, asked, visit);
        if ('answer' in found) return found.answer;
        return isAction(found.value) ? (found.value as unknown as VisitAnswer) : { action: 'accept' };
      },
    },
    sample: {
      tools: true,
      context: true,
      run(request, asked) {
        const message = JSON.stringify(request.messages.at(-1)?.content ?? '');
        const found = find({ ...request, message }, asked, run);
        if ('answer' in found) return found.answer;
        return isObject(found.value) ? (found.value as unknown as SamplingAnswer) : said(String(found.value));
      },
    },
  };
}

function said(text: string): SamplingAnswer {
  return { role: 'assistant', content: { type: 'text', text }, model: 'test', stopReason: 'endTurn' };
}

function isAction(value: unknown): boolean {
  return isObject(value) && typeof value['action'] === 'string';
}
