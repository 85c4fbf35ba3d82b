// Sends the answers of the user.

import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import { run } from '../../state/api.js';
import { toast } from '../../state/toast.js';
import { accepted } from './answers.js';
import { draftOf, dropDraft, setDraft } from './drafts.js';

export type Refusal = 'decline' | 'cancel';

/** Answers all questions with what was typed, or none: a wrong one is marked, and true is returned. */
export async function acceptAll(story: Story, questions: readonly QuestionView[]): Promise<boolean> {
  const answers = questions.map((question) => ({
    question,
    ...accepted(question, draftOf(story, question)),
  }));
  let isWrong = false;
  for (const { question, ...rest } of answers) {
    if (!('problem' in rest)) continue;
    setDraft(story, question, { isTried: true });
    isWrong = true;
  }
  if (isWrong) return true;
  for (const each of answers) {
    if (!('answer' in each)) continue;
    const { remembers } = draftOf(story, each.question);
    const isSent = await send(
      run('answer', {
        story: story.id,
        question: each.question.id,
        answer: each.answer,
        ...(remembers && { remember: true }),
      }),
    );
    if (isSent) dropDraft(story, each.question);
  }
  return false;
}

/** Says no to questions, or closes them without a choice. */
export async function refuse(
  story: Story,
  questions: readonly QuestionView[],
  action: Refusal,
): Promise<void> {
  for (const question of questions) {
    const { remembers } = draftOf(story, question);
    await send(
      run('answer', {
        story: story.id,
        question: question.id,
        answer: { action },
        ...(remembers && { remember: true }),
      }),
    );
  }
}

async function send(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    return false;
  }
}
