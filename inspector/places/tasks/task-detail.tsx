import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { clock, counted, duration } from '../../parts/values/format.js';
import { QuestionPanel } from '../../questions/question-panel.js';
import { addressOf } from '../../state/route.js';
import { connections } from '../../state/store.js';
import { stateOf } from '../../timeline/model/words.js';
import { now, useClock } from '../../timeline/now.js';
import { StateWord } from '../../timeline/state-mark.js';
import { stopStory } from '../../timeline/story/story-actions.js';
import { StoryResult } from '../../timeline/story/story-result.js';
import { taskLine } from '../tools/copy/command-line.js';
import { groupOf, stepsOf, type TaskStory } from './task-groups.js';

/** One task: how far it is, what it asks, how long it is kept, and what came of it. */
export function TaskDetail({ story }: { readonly story: TaskStory }): VNode {
  const { task } = story;
  const isGoing = groupOf(story) !== 'Ended';
  useClock(isGoing);
  const connection = connections.value.get(story.connection);
  return (
    <article class="task" aria-label={`Task ${cleanLine(story.title, 80)}`}>
      <header class="place-head">
        <h1 class="mono">{cleanLine(story.title, 120)}</h1>
        <StateWord {...stateOf(story)} />
        {isGoing && (
          <div class="place-actions">
            <Button
              icon="stop"
              label="Asks the server to cancel the task"
              onClick={() => void stopStory(story)}
            >
              Cancel
            </Button>
          </div>
        )}
      </header>
      <QuestionPanel story={story} />
      <Progress story={story} isGoing={isGoing} />
      <Facts story={story} />
      <div class="task-actions">
        <CopyButton text={task.id} label="Copy id" hasWord />
        {connection && (
          <CopyButton text={taskLine(connection, task.id)} label="Copy as command line" hasWord />
        )}
        <a class="button quiet" href={addressOf('call', String(story.id))}>
          Story of this call
        </a>
      </div>
      <StoryResult story={story} />
    </article>
  );
}

/** A bar only if there is a total; otherwise the count and the last message. */
function Progress({
  story,
  isGoing,
}: {
  readonly story: TaskStory;
  readonly isGoing: boolean;
}): VNode | null {
  const { progress, task } = story;
  const steps = stepsOf(story);
  const message = progress?.message ?? task.statusMessage;
  if (steps.length < 2 && ((!progress && message === undefined) || !isGoing)) return null;
  const total = progress?.total;
  const label =
    total === undefined ? counted(progress?.progress ?? 0, 'step') : `${progress?.progress} of ${total}`;
  return (
    <section class="task-progress" aria-label="Progress">
      {steps.length > 1 && (
        <ol class="task-steps">
          {steps.map((step, index) => (
            <li
              key={`${index} ${step}`}
              aria-current={isGoing && index === steps.length - 1 ? 'step' : undefined}
            >
              {cleanLine(step, 40)}
            </li>
          ))}
        </ol>
      )}
      {isGoing && (
        <div class="task-bar-line">
          {progress && total !== undefined && total > 0 && (
            <progress
              class="task-bar"
              max={total}
              value={Math.min(total, progress.progress)}
              aria-label={label}
            />
          )}
          {progress && <span class="mono">{label}</span>}
          <span>{message === undefined ? '' : cleanLine(message, 200)}</span>
        </div>
      )}
    </section>
  );
}

function Facts({ story }: { readonly story: TaskStory }): VNode {
  const { task, questions, youMs } = story;
  const facts: readonly (readonly [string, string])[] = [
    ['Task', cleanLine(task.id, 120)],
    ['Started', clock(task.createdAt ?? story.at)],
    [
      'Server',
      duration(story.endedAt === undefined ? Math.max(0, now.value - story.at - youMs) : story.serverMs),
    ],
    ...(questions.length > 0
      ? ([['Asked', `${questions.length}×, you took ${duration(youMs)}`]] as const)
      : []),
    [
      'Kept',
      task.keptUntil === undefined
        ? 'the server does not say how long'
        : `until ${clock(task.keptUntil).slice(0, 5)} (${forHowLong(task.keptUntil - (task.createdAt ?? story.at))})`,
    ],
    ['Checked', checks(story)],
  ];
  return (
    <dl class="task-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function checks({ task, endedAt }: TaskStory): string {
  const times = counted(task.polls, 'time');
  const every = task.pollMs === undefined ? '' : `every ${duration(task.pollMs)}, `;
  if (task.polls === 0) return 'not yet';
  if (endedAt !== undefined || task.lastPoll === undefined) return `${every}${times}`;
  return `${every}${times}, last ${duration(Math.max(0, now.value - task.lastPoll))} ago`;
}

function forHowLong(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return duration(Math.max(0, ms));
  return minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`;
}
