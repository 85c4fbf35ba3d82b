// Turns what was typed into the answer that travels.

import type { QuestionView } from '../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { check } from '../../form/check.js';
import type { Draft, ReplyDraft } from './drafts.js';

export type Answer =
  | { readonly answer: JsonObject }
  /** The mistakes that must be mended first: `problem` in words, `fields` by JSON pointer. */
  | { readonly problem: string; readonly fields: ReadonlyMap<string, string> };

const NONE: ReadonlyMap<string, string> = new Map();

/** The answer that accepts a question with what was typed. */
export function accepted(question: QuestionView, draft: Draft): Answer {
  const typed = draft.json === undefined ? { value: draft.value } : parsed(draft.json);
  if ('problem' in typed) return { problem: typed.problem, fields: NONE };
  switch (question.kind) {
    case 'url':
      return { answer: { action: 'accept' } };
    case 'roots':
      return { answer: { action: 'accept', roots: Array.isArray(typed.value) ? typed.value : [] } };
    case 'sampling':
      return draft.json === undefined ? reply(draft.value as ReplyDraft) : whole(typed.value);
    case 'form':
      return form(question, typed.value);
    default:
      return question.kind satisfies never;
  }
}

/** The words beside the fields: what is wrong at once, what is missing after the first try. */
export function fieldErrors({ schema }: QuestionView, draft: Draft): ReadonlyMap<string, string> {
  if (!schema || draft.json !== undefined) return NONE;
  const errors = new Map<string, string>();
  for (const [path, { message, isMissing }] of check(schema, draft.value))
    if (!isMissing || draft.isTried) errors.set(path, message);
  return errors;
}

/** The JSON that the editor of a question begins with. */
export function asJson(question: QuestionView, draft: Draft): string {
  const result = question.kind === 'sampling' ? replyValue(draft.value as ReplyDraft) : draft.value;
  return JSON.stringify(result ?? {}, undefined, 2);
}

function form({ schema }: QuestionView, value: unknown): Answer {
  if (!isObject(value)) return { problem: 'The answer must be an object.', fields: NONE };
  const fields = new Map([...check(schema ?? {}, value)].map(([path, { message }]) => [path, message]));
  if (fields.size > 0) return { problem: 'Some fields are missing or wrong.', fields };
  return { answer: { action: 'accept', content: value } };
}

function reply(draft: ReplyDraft): Answer {
  if (draft.text === '') return { problem: 'Write the reply first.', fields: NONE };
  if (draft.model.trim() === '') return { problem: 'Name the model that wrote the reply.', fields: NONE };
  return { answer: replyValue(draft) };
}

function replyValue({ text, model, stopReason }: ReplyDraft): JsonObject {
  return { role: 'assistant', content: { type: 'text', text }, model: model.trim(), stopReason };
}

function whole(value: unknown): Answer {
  if (!isObject(value)) return { problem: 'The reply must be an object.', fields: NONE };
  return { answer: value };
}

function parsed(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}.` };
  }
}
