import type { VNode } from 'preact';
import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { bytes } from '../parts/values/format.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { endsRound } from '../timeline/model/lanes.js';

/** How the question came and how its answer goes: for those who want to know the protocol. */
export function Travels({
  story,
  question,
}: {
  readonly story: Story;
  readonly question: QuestionView;
}): VNode {
  const part = question.schema ?? question.sampling;
  return (
    <details class="question-travels">
      <summary class="label muted">how this travels</summary>
      <p class="muted">{words(story, question)}</p>
      {part && <JsonTree value={part} openDepth={1} label={question.schema ? 'Schema' : 'Request'} />}
    </details>
  );
}

function words(story: Story, question: QuestionView): string {
  const key = question.key === undefined ? '' : ` It has the key “${cleanLine(question.key, 80)}”.`;
  if (endsRound(story, question)) {
    const size = story.rounds[question.round - 1]?.stateBytes;
    const state = size === undefined ? '' : ` and ${bytes(size)} of sealed state`;
    return `Round ${question.round} of ${story.rounds.length} so far. The reply to ${cleanLine(story.method, 40)} says that input is required; the same call is sent again with your answer${state}. Nothing stays open while you think.${key}`;
  }
  if (story.task)
    return `The task waits for input. Your answer is sent to the task, and the inspector keeps asking for its state.${key}`;
  return `A request of the server inside its session. The call stays open and waits for your answer; the inspector's own time limit stands still.${key}`;
}
