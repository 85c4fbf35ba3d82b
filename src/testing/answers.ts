import type { Asked, FormAnswer, Handlers, SamplingAnswer, VisitAnswer } from '../client/handlers.js';
import { isObject, type JsonObject } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';

/**
 * What a user or a model would say. To a form: what is filled in; to a page: anything; to a model: a text, or a whole answer.
 * An object with an `action` is what the user did. A function gets the question.
 */
export type TestAnswer =
  | Readonly<JsonObject>
  | string
  | boolean
  | ((question: { readonly message: string }) => Readonly<JsonObject> | string | boolean);

/** Answers by the keys under which a server asks. */
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
