// Runs a call again and gives the answers of before, until a question comes that has none.

import { effect, untracked } from '@preact/signals';
import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { stories } from '../../state/store.js';
import { toast } from '../../state/toast.js';
import { type Given, givenBefore, matching } from './earlier-answers.js';

/** Runs a call again with the answers that its handler knew at the beginning of a run, counted from 1. */
export function againFrom(story: Story, run: number): Promise<void> {
  return again(story, givenBefore(story, run));
}

/** Runs a call again with its answers, and with one for a question that came too late. */
export function againWith(story: Story, question: QuestionView, answer: JsonObject): Promise<void> {
  return again(story, [...givenBefore(story, Number.POSITIVE_INFINITY), { ...question, answer }]);
}

async function again(story: Story, answers: readonly Given[]): Promise<void> {
  let id: number;
  try {
    ({ story: id } = await run('again', { story: story.id }));
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    return;
  }
  go('call', String(id));
  giveAnswers(id, answers);
}

function giveAnswers(id: number, answers: readonly Given[]): void {
  const left = [...answers];
  const sent = new Set<string>();
  const stop = effect(() => {
    const story = stories.value.get(id);
    if (!story) return;
    if (left.length === 0 || story.endedAt !== undefined) return untracked(() => stop());
    for (const question of story.questions) {
      if (question.answeredAt !== undefined || question.gone !== undefined || sent.has(question.id)) continue;
      const place = matching(left, question);
      const [given] = place < 0 ? [] : left.splice(place, 1);
      // It was not asked before: from here on the user answers.
      if (!given) return untracked(() => stop());
      sent.add(question.id);
      run('answer', { story: id, question: question.id, answer: given.answer }).catch((error: Error) =>
        toast(error.message),
      );
    }
  });
}
