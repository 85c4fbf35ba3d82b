import type { VNode } from 'preact';
import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { SchemaForm } from '../form/schema-form.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { againWith } from './answers/answer-again.js';
import { accepted } from './answers/answers.js';
import { draftOf } from './answers/drafts.js';

const NONE: ReadonlyMap<string, string> = new Map();

/** A question that came too late to be answered: what was typed is kept, and can be sent with a new run. */
export function GoneQuestion({
  story,
  question,
}: {
  readonly story: Story;
  readonly question: QuestionView;
}): VNode {
  const draft = draftOf(story, question);
  const result = accepted(question, draft);
  const canRun = story.kind === 'tool' && 'answer' in result;
  return (
    <div class="question is-gone">
      <div class="question-title">
        <Icon name="cross" size={12} />
        <h2>{clean(question.message.slice(0, 4000))}</h2>
      </div>
      <div class="question-body">
        <p>It can no longer be answered: {cleanLine(question.gone ?? '', 1000)}</p>
        {question.kind === 'form' && question.schema && (
          <fieldset disabled class="question-gone">
            <legend class="visually-hidden">What you had typed</legend>
            <SchemaForm
              schema={question.schema}
              value={draft.value}
              onChange={() => {}}
              errors={NONE}
              idPrefix={`gone-${story.id}-${question.id}`}
            />
          </fieldset>
        )}
        {canRun && (
          <div>
            <Button icon="again" onClick={() => void againWith(story, question, result.answer)}>
              Run again with this answer
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}
