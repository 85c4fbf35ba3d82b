import type { VNode } from 'preact';
import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { SchemaForm } from '../form/schema-form.js';
import { Button } from '../parts/controls/button.js';
import { Icon } from '../parts/icon.js';
import { addressOf } from '../state/route.js';
import { stories } from '../state/store.js';
import { accepted, asJson, fieldErrors } from './answers/answers.js';
import { type Draft, draftOf, setDraft } from './answers/drafts.js';
import { refuse } from './answers/give-answers.js';
import { onlyYesOrNo } from './answers/yes-or-no.js';
import { RootsQuestion } from './roots-question.js';
import { SamplingQuestion } from './sampling-question.js';
import { Travels } from './travels.js';
import { UrlQuestion } from './url-question.js';

const MAX_MESSAGE = 4000;

/** One question that waits: the server's sentence is its title. */
export function OpenQuestion({
  story,
  question,
  number,
  isAlone,
}: {
  readonly story: Story;
  readonly question: QuestionView;
  readonly number: number;
  /** The only one that is open: its buttons stand below all of them. */
  readonly isAlone: boolean;
}): VNode {
  const draft = draftOf(story, question);
  const set = (change: Partial<Draft>): void => setDraft(story, question, change);
  const result = draft.isTried ? accepted(question, draft) : undefined;
  const problem = result && 'problem' in result ? result.problem : undefined;
  const title = `question-${story.id}-${question.id}`;
  const hasJson = question.kind === 'form' || question.kind === 'sampling';
  return (
    <div class="question" data-question={question.id} role="group" aria-labelledby={title}>
      <div class="question-title">
        <span class="question-number" aria-hidden="true">
          {number}
        </span>
        <h2 id={title} tabIndex={-1}>
          {clean(question.message.slice(0, MAX_MESSAGE)) || 'The server asks.'}
        </h2>
      </div>
      <div class="question-body">
        {question.mayBeOf !== undefined && <MayBeOf calls={question.mayBeOf} own={story.id} />}
        {question.rejection !== undefined && (
          <p class="question-rejection">
            <Icon name="cross" size={12} /> The server rejected the answer:{' '}
            {cleanLine(question.rejection, 1000)}
          </p>
        )}
        {draft.json === undefined ? (
          <Fields story={story} question={question} draft={draft} set={set} />
        ) : (
          <textarea
            class="field question-json"
            aria-label="The answer as JSON"
            rows={8}
            spellcheck={false}
            value={draft.json}
            onInput={(event) => set({ json: event.currentTarget.value })}
          />
        )}
        {problem !== undefined && (
          <p class="questions-problem" tabIndex={-1} role="alert">
            {problem}
          </p>
        )}
        <div class="question-options">
          {onlyYesOrNo(question) !== undefined && (
            <span class="label muted question-keys">
              <kbd>y</kbd> yes <kbd>n</kbd> no
            </span>
          )}
          <label class="question-remember">
            <input
              type="checkbox"
              checked={draft.remembers}
              onChange={(event) => set({ remembers: event.currentTarget.checked })}
            />
            Remember for this tool
          </label>
          {hasJson && (
            <Button
              look="quiet"
              icon="braces"
              isPressed={draft.json !== undefined}
              onClick={() => set(toggledJson(question, draft))}
            >
              JSON
            </Button>
          )}
          {!isAlone && (
            <>
              <Button
                look="quiet"
                label="The handler gets “decline”"
                onClick={() => void refuse(story, [question], 'decline')}
              >
                Decline
              </Button>
              <Button
                look="quiet"
                label="The handler gets “cancel”"
                onClick={() => void refuse(story, [question], 'cancel')}
              >
                Dismiss
              </Button>
            </>
          )}
        </div>
        <Travels story={story} question={question} />
      </div>
    </div>
  );
}

/** The server does not say which call asks: the answer goes to the one that does, wherever it is given. */
function MayBeOf({
  calls,
  own,
}: {
  readonly calls: NonNullable<QuestionView['mayBeOf']>;
  readonly own: number;
}): VNode {
  return (
    <p class="question-calls muted">
      One of these calls asks:{' '}
      {calls.map(({ story, title }, at) => (
        <>
          {at > 0 && ', '}
          {story === own ? (
            <span class="mono">{cleanLine(title, 60)} (this one)</span>
          ) : (
            <a key={story} class="mono" href={addressOf('call', String(story))}>
              {cleanLine(title, 60)} #{stories.value.get(story)?.run}
            </a>
          )}
        </>
      ))}
      . The server does not say which; answer once, in any of them.
    </p>
  );
}

function Fields({
  story,
  question,
  draft,
  set,
}: {
  readonly story: Story;
  readonly question: QuestionView;
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}): VNode {
  switch (question.kind) {
    case 'form':
      return (
        <SchemaForm
          schema={question.schema ?? { type: 'object' }}
          value={draft.value}
          onChange={(value) => set({ value })}
          errors={fieldErrors(question, draft)}
          idPrefix={`answer-${story.id}-${question.id}`}
        />
      );
    case 'url':
      return <UrlQuestion url={question.url ?? ''} />;
    case 'sampling':
      return <SamplingQuestion question={question} draft={draft} set={set} />;
    case 'roots':
      return <RootsQuestion draft={draft} set={set} />;
    default:
      return question.kind satisfies never;
  }
}

/** Both directions keep what was typed, also when it is wrong. */
function toggledJson(question: QuestionView, draft: Draft): Partial<Draft> {
  if (draft.json === undefined) return { json: asJson(question, draft) };
  if (question.kind === 'sampling') return { json: undefined };
  try {
    return { value: JSON.parse(draft.json) as unknown, json: undefined };
  } catch {
    return { isTried: true };
  }
}
