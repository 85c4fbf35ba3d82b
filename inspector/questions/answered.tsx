import type { VNode } from 'preact';
import type { QuestionView } from '../../src/inspector/contract/story.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { Icon } from '../parts/icon.js';
import { clock, duration } from '../parts/values/format.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { answerWords } from '../timeline/model/words.js';

/** A question that was answered, in one line that unfolds. */
export function Answered({
  question,
  number,
}: {
  readonly question: QuestionView;
  readonly number: number;
}): VNode {
  const { answeredAt, at, answer, isRemembered, message } = question;
  const isNo = answer?.['action'] === 'decline' || answer?.['action'] === 'cancel';
  return (
    <details class="answered">
      <summary>
        <Icon name={isNo ? 'cross' : 'check'} size={12} />
        <span class="answered-number">{number}</span>
        <span class="answered-message">{cleanLine(message, 200)}</span>
        <span class="answered-words">{answerWords(question)}</span>
        {isRemembered && <span class="badge ask">remembered</span>}
        <span class="label muted" title={answeredAt === undefined ? '' : clock(answeredAt)}>
          {answeredAt === undefined ? '' : `you took ${duration(answeredAt - at)}`}
        </span>
      </summary>
      {answer && <JsonTree value={answer} label="Answer" openDepth={3} />}
    </details>
  );
}
