// The handlers that the inspector gives to its clients: each waits for the page.

import type {
  ElicitFormResult,
  Handlers,
  QuestionContext,
  SamplingRejection,
  SamplingResult,
} from '../../../client/model/handlers.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { ElicitUrlResult, Root } from '../../../protocol/model/input.js';
import type { Askers, IncomingQuestion, PageQuestions } from '../../stories/asking.js';

export interface HandlerParts {
  readonly asking: PageQuestions;
  /** The stories that a question may belong to which is asked now: one, if that is known. */
  readonly askers: () => Askers;
  readonly roots: () => readonly Root[];
}

export function handlersOf({ asking, askers, roots }: HandlerParts): Handlers {
  const ask = (
    question: Omit<IncomingQuestion, 'signal' | 'key'>,
    { key, signal }: QuestionContext,
  ): Promise<JsonObject> =>
    asking.ask(askers(), { ...question, signal, ...(key !== undefined && { key: key.slice(0, 500) }) });
  return {
    elicit: {
      form: async ({ message, schema }, context) =>
        (await ask(
          { kind: 'form', message, schema, rejection: context.rejection },
          context,
        )) as unknown as ElicitFormResult,
      url: async ({ message, url }, context) =>
        (await ask({ kind: 'url', message, url }, context)) as unknown as ElicitUrlResult,
    },
    sample: {
      tools: true,
      context: true,
      async run(request, context) {
        const sampling = request as unknown as JsonObject;
        const answer = await ask({ kind: 'sampling', message: lastWords(sampling), sampling }, context);
        return answer as unknown as SamplingResult | SamplingRejection;
      },
    },
    // The page sets the roots beforehand: servers ask for them at any time, and some before they answer anything else.
    roots() {
      const current = roots();
      asking.record(
        askers(),
        { kind: 'roots', message: 'Which folders may the server use?' },
        { roots: current },
      );
      return current;
    },
  };
}

/** The end of the conversation, as the title of the question. */
function lastWords({ messages }: JsonObject): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = isObject(last) ? last['content'] : undefined;
  const block: unknown = Array.isArray(content) ? content.at(-1) : content;
  const text = isObject(block) ? block['text'] : undefined;
  return typeof text === 'string' ? text.slice(0, 500) : 'The server asks for a message of a model.';
}

/** Says what is wrong with an answer of the page; undefined if it can be passed on. */
export function answerProblem(
  kind: 'form' | 'url' | 'sampling' | 'roots',
  answer: JsonObject,
): string | undefined {
  const { action, content, role, model } = answer;
  const isAction = action === 'accept' || action === 'decline' || action === 'cancel';
  if (kind !== 'sampling') {
    if (!isAction) return 'An answer has the action "accept", "decline" or "cancel".';
    return content === undefined || isObject(content) ? undefined : 'The content of an answer is an object.';
  }
  if (action !== undefined)
    return action === 'accept' || !isAction ? 'Send the message, or decline.' : undefined;
  if (role !== 'assistant' && role !== 'user') return 'The role of a message is "assistant" or "user".';
  if (typeof model !== 'string' || model === '') return 'Name the model that wrote the message.';
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.every((block) => isObject(block) && typeof block['type'] === 'string')
    ? undefined
    : 'The content of a message is a content block, or an array of them.';
}
