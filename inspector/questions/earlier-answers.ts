// The answers of an earlier run, and the questions of a new one that they fit.

import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import type { JsonObject } from '../../src/jsonrpc/message.js';

export type Given = Pick<QuestionView, 'key' | 'kind' | 'message'> & { readonly answer: JsonObject };

/** The answers that were given to the questions of the runs before `run`. */
export function givenBefore({ questions }: Pick<Story, 'questions'>, run: number): readonly Given[] {
  return questions.flatMap(({ key, kind, message, answer, round }) =>
    answer === undefined || round >= run
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
