// The two tools for clients that need them, as they are listed.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { ANSWER_QUESTION, CONTINUE_TASK } from './names.js';

const task = {
  type: 'string',
  maxLength: 64,
  description: 'The id of the task, from the result that named it',
};

/** `continue_task`. */
export const continueTask: ListedTool = {
  name: CONTINUE_TASK,
  title: 'Continue a task',
  description:
    'Waits for a task that another tool has started, and returns its result or its state. Call it only when a result names a task.',
  inputSchema: {
    type: 'object',
    properties: { task, cancel: { type: 'boolean', description: 'true to stop the task for good' } },
    required: ['task'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** `answer_question`. */
export const answerQuestion: ListedTool = {
  name: ANSWER_QUESTION,
  title: 'Answer a question',
  description:
    'Brings the answer of the user to a question that a task has asked. Ask the user first, and do not make up an answer.',
  inputSchema: {
    type: 'object',
    properties: {
      task,
      question: { type: 'string', maxLength: 512, description: 'The key of the question' },
      answer: { type: 'object', description: 'The fields, by the schema of the question' },
      decline: { type: 'boolean', description: 'true if the user does not want to answer' },
      code: { type: 'string', maxLength: 16, description: 'The code that the page has shown to the user' },
    },
    required: ['task', 'question'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};

/** The result of a call that has not ended, in the place of the one that a tool describes. */
const unfinished = {
  type: 'object',
  properties: { status: { enum: ['working', 'input_required'] }, task: { type: 'string' } },
  required: ['status', 'task'],
};

/** A listed tool whose calls may end early: its result may also be that it is not finished. */
export function mayBeUnfinished(tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  if (!isObject(outputSchema)) return tool;
  // References begin at the root of the schema, and would lead nowhere inside of another one.
  if (JSON.stringify(outputSchema).includes('"$ref"')) return rest;
  const { $schema, ...own } = outputSchema;
  const dialect = $schema === undefined ? {} : { $schema };
  return { ...rest, outputSchema: { ...dialect, type: 'object', anyOf: [own, unfinished] } };
}
