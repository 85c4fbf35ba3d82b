import './questions.css';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { Button, Keys } from '../parts/controls/button.js';
import { isTyping, useKeys } from '../parts/controls/keys.js';
import { counted, duration } from '../parts/values/format.js';
import { connections } from '../state/store.js';
import { now, useClock } from '../timeline/now.js';
import { Answered } from './answered.js';
import { setDraft } from './answers/drafts.js';
import { acceptAll, type Refusal, refuse } from './answers/give-answers.js';
import { onlyYesOrNo } from './answers/yes-or-no.js';
import { GoneQuestion } from './gone-question.js';
import { OpenQuestion } from './open-question.js';

/** The questions of a call, inside the call: never a dialog, and nothing else on the page waits for it. */
export function QuestionPanel({ story }: { readonly story: Story }): VNode | null {
  const { questions } = story;
  const open = questions.filter(isOpen);
  const gone = questions.filter(
    (question) => question.gone !== undefined && question.answeredAt === undefined,
  );
  if (questions.length === 0) return null;
  return (
    <section
      class={open.length > 0 ? 'questions is-open' : 'questions'}
      aria-label={`Questions of ${cleanLine(story.title, 80)}`}
    >
      {open.length > 0 && <Waiting story={story} open={open} />}
      {questions.map((question, index) =>
        isOpen(question) || gone.includes(question) ? null : (
          <Answered key={question.id} question={question} number={index + 1} />
        ),
      )}
      {gone.map((question) => (
        <GoneQuestion key={question.id} story={story} question={question} />
      ))}
      {open.length > 0 && <OpenQuestions story={story} open={open} all={questions} />}
    </section>
  );
}

function isOpen({ answeredAt, gone }: QuestionView): boolean {
  return answeredAt === undefined && gone === undefined;
}

function Waiting({ story, open }: { readonly story: Story; readonly open: readonly QuestionView[] }): VNode {
  useClock(true);
  const since = Math.min(...open.map(({ at }) => at));
  return (
    <p class="questions-head">
      <strong class="mono">{cleanLine(story.title, 80)}</strong>
      <span>waiting for you</span>
      <span>{minutes(now.value - since)}</span>
      <span class="muted">server worked {duration(story.serverMs)}</span>
    </p>
  );
}

/** As in `0:42`. */
function minutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function OpenQuestions({
  story,
  open,
  all,
}: {
  readonly story: Story;
  readonly open: readonly QuestionView[];
  readonly all: readonly QuestionView[];
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [first] = open;
  const names = open.map(({ id, rejection }) => `${id} ${rejection ?? ''}`).join('\n');
  useEffect(() => {
    if (box.current && mayTakeFocus(box.current)) focusFirst(box.current);
  }, [names]);

  const isElsewhere = (): boolean =>
    isTyping(document.activeElement) && box.current?.contains(document.activeElement) !== true;
  const answer = (): false | undefined => {
    if (isElsewhere()) return false;
    void acceptAll(story, open).then((problem) => {
      if (problem && box.current) focusProblem(box.current);
    });
    return undefined;
  };
  /** The question that has the focus, or the only one. */
  const meant = (): QuestionView | undefined => {
    const id = document.activeElement?.closest<HTMLElement>('[data-question]')?.dataset['question'];
    return open.find((question) => question.id === id) ?? (open.length === 1 ? first : undefined);
  };
  const leave = (refusal: Refusal) => (): false | undefined => {
    const question = meant();
    if (!question || isElsewhere()) return false;
    void refuse(story, [question], refusal);
    return undefined;
  };
  const choose = (value: boolean) => (): false | undefined => {
    const question = open.find((each) => onlyYesOrNo(each) !== undefined);
    const field = question && onlyYesOrNo(question);
    if (!question || field === undefined) return false;
    setDraft(story, question, { value: { [field]: value }, json: undefined });
    return undefined;
  };
  useKeys({
    'Ctrl+Enter': answer,
    'Alt+d': leave('decline'),
    'Alt+c': leave('cancel'),
    y: choose(true),
    n: choose(false),
  });
  const server = connections.value.get(story.connection)?.name ?? 'the server';
  return (
    <div ref={box} class="questions-open">
      {open.map((question) => (
        <OpenQuestion
          key={question.id}
          story={story}
          question={question}
          number={all.indexOf(question) + 1}
          isAlone={open.length === 1}
        />
      ))}
      <div class="questions-actions">
        <Button look="main" class="questions-answer" onClick={answer}>
          {open.length > 1 ? `Answer all ${open.length}` : 'Answer'} <Keys of="Ctrl+Enter" />
        </Button>
        <Button
          label="The handler gets “decline”: you said no"
          onClick={() => void refuse(story, open, 'decline')}
        >
          {open.length > 1 ? 'Decline all' : 'Decline'} {open.length === 1 && <Keys of="Alt+D" />}
        </Button>
        <Button
          look="quiet"
          label="The handler gets “cancel”: you closed it without a choice"
          onClick={() => void refuse(story, open, 'cancel')}
        >
          {open.length > 1 ? 'Dismiss all' : 'Dismiss'} {open.length === 1 && <Keys of="Alt+C" />}
        </Button>
      </div>
      <p class="questions-who muted">
        Asked by{' '}
        {open.some(({ mayBeOf }) => mayBeOf !== undefined) ? (
          'one of the running calls'
        ) : (
          <span class="mono">{cleanLine(story.title, 80)}</span>
        )}{' '}
        on {cleanLine(server, 80)}
        {open.length > 1 ? `, ${counted(open.length, 'question')} at once` : ''}. Send only what it may know.
      </p>
    </div>
  );
}

/** A question takes the focus only if the user is in its call, and not at work elsewhere on the page. */
function mayTakeFocus(box: HTMLElement): boolean {
  const active = document.activeElement;
  if (active === null || active === document.body) return true;
  if (box.contains(active)) return !isTyping(active) && !active.isConnected;
  return active.closest('main')?.contains(box) === true;
}

function focusFirst(box: HTMLElement): void {
  // A field would open the keyboard of a phone, over the question that one wants to read first.
  if (matchMedia('(pointer: coarse)').matches) return box.querySelector('h2')?.focus();
  const field = box.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea, a.button');
  const checked = box.querySelector<HTMLElement>('input[type=radio]:checked');
  (checked ?? field ?? box.querySelector<HTMLElement>('button'))?.focus({ preventScroll: false });
}

function focusProblem(box: HTMLElement): void {
  box.querySelector<HTMLElement>('[aria-invalid="true"], .questions-problem')?.focus();
}
