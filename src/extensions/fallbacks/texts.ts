// The results that tell a model what to do: in words, and as data with the same words, because hosts show one or the other.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { ANSWER_QUESTION, CONTINUE_TASK } from './names.js';

/** An open question of a task, and how it can be answered. */
export interface ModelQuestion {
  readonly key: string;
  readonly params: JsonObject;
  /** The link to the page that asks; undefined if the model may pass the answer on. */
  readonly link?: string | undefined;
}

// The first sentence is the state, the second the only next action, the third what not to do.

/** The result of a call whose task still runs. */
export function stillWorking(id: string, { statusMessage }: JsonObject): JsonObject {
  const so = typeof statusMessage === 'string' ? `: ${shorten(statusMessage, 300)}` : '';
  const message = `The work is not finished${so}. Call ${CONTINUE_TASK} with {"task":"${id}"} now, and again until it returns the result. Do not call the first tool again: the work continues by itself.`;
  return told({ status: 'working', task: id, message });
}

/** The result of a call whose task asks. */
export function asks(id: string, questions: readonly ModelQuestion[]): JsonObject {
  const parts = questions.map((question) => sentences(id, question));
  const message = `The work waits for an answer of the user. ${parts.join(' ')} Do not call the first tool again.`;
  const open = Object.fromEntries(
    questions.map(({ key, params, link }) => [
      key,
      {
        message: params['message'],
        ...(link !== undefined ? { link } : dataOf(params)),
      },
    ]),
  );
  return told({ status: 'input_required', task: id, questions: open, message });
}

function dataOf({ requestedSchema, url }: JsonObject): JsonObject {
  return requestedSchema === undefined ? { url } : { schema: requestedSchema };
}

function sentences(id: string, { key, params, link }: ModelQuestion): string {
  const asked = `Question ${JSON.stringify(key)}: ${String(params['message'])}`;
  const call = (rest: object): string =>
    `call ${ANSWER_QUESTION} with ${JSON.stringify({ task: id, question: key, ...rest })}`;
  if (link !== undefined)
    return `${asked} Only the user can answer. Show the user this link: ${link} The page shows a code afterwards. Ask the user for it, and ${call({ code: 'the code' })}; if the page shows none, call ${CONTINUE_TASK} with {"task":"${id}"}.`;
  if (params['mode'] === 'url')
    return `${asked} Show the user this link: ${String(params['url'])} When the user has opened it, ${call({})}.`;
  return `${asked} Ask the user, and do not answer yourself. Then ${call({ answer: {} })}, where "answer" fits this schema: ${JSON.stringify(params['requestedSchema'])}. If the user does not want to answer, add "decline": true.`;
}

/** The result of a call that has failed, with what to do. */
export function failure(message: string): JsonObject {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** The failure for a task that the caller does not have. */
export function unknownTask(id: string): JsonObject {
  return failure(
    `There is no task ${JSON.stringify(shorten(id, 64))}: it has expired, or the id is wrong. If the work is still wanted, call the first tool again.`,
  );
}

/** The failure of a call whose question nobody can be asked. */
export function cannotAsk(): JsonObject {
  return failure(
    'The work needs an answer of the user in person, and this application cannot ask for it. The work was stopped. Tell the user, and do not try again.',
  );
}

/** The failure of a task that ended with a protocol error. */
export function failed({ error }: JsonObject): JsonObject {
  const { message } = isObject(error) ? error : {};
  return failure(typeof message === 'string' ? message : 'The work has failed.');
}

/** The result of a task that was cancelled. */
export function cancelled(id: string): JsonObject {
  return failure(`The task ${id} was cancelled. Its work has stopped, and there is no result.`);
}

function told(data: JsonObject): JsonObject {
  return { content: [{ type: 'text', text: String(data['message']) }], structuredContent: data };
}
