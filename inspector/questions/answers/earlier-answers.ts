// The answers of an earlier run, and the questions of a new one that they fit.

import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';

export type Given = Pick<QuestionView, 'key' | 'kind' | 'message'> & { readonly answer: JsonObject };

/** The answers that the handler knew when a run began, counted from 1: as its journal says, or else by their rounds. */
export function givenBefore(
  { questions, journal }: Pick<Story, 'questions' | 'journal'>,
  run: number,
): readonly Given[] {
  const asked = new Map(
    journal?.rows.flatMap(({ kind, key, cells }) =>
      kind === 'ask' ? [[key, cells.indexOf('asked') + 1]] : [],
    ),
  );
  return questions.flatMap(({ key, kind, message, answer, round }) =>
    answer === undefined || (asked.get(key ?? '') || round) >= run
      ? []
      : [{ kind, message, answer, ...(key !== undefined && { key }) }],
  );
}

/** The answer for a question: that of the same key, or of the same words where there are no keys. */
export function matching(given: readonly Given[], question: QuestionView): number {
  return given.findIndex(
    ({ key, kind, message }) =>
      kind === question.kind &&
      (question.key === undefined ? key === undefined && message === question.message : key === question.key),
  );
}
