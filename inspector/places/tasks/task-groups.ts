// The tasks of a server, in the order in which they need the user.

import type { Story, TaskView } from '../../../src/inspector/contract/story.js';

export type TaskStory = Story & { readonly task: TaskView };

export interface TaskGroup {
  readonly name: 'Waiting for you' | 'Running' | 'Ended';
  readonly tasks: readonly TaskStory[];
}

/** Groups that are not empty; the newest task of each is first. */
export function taskGroups(stories: readonly Story[]): readonly TaskGroup[] {
  const tasks = stories.filter((story): story is TaskStory => story.task !== undefined).reverse();
  const groups: readonly TaskGroup[] = [
    { name: 'Waiting for you', tasks: tasks.filter((story) => groupOf(story) === 'Waiting for you') },
    { name: 'Running', tasks: tasks.filter((story) => groupOf(story) === 'Running') },
    { name: 'Ended', tasks: tasks.filter((story) => groupOf(story) === 'Ended') },
  ];
  return groups.filter((group) => group.tasks.length > 0);
}

export function groupOf({ task, state }: TaskStory): TaskGroup['name'] {
  if (state === 'asks') return 'Waiting for you';
  if (state === 'error' || state === 'cancelled') return 'Ended';
  switch (task.status) {
    case 'working':
      return 'Running';
    case 'input_required':
      return 'Waiting for you';
    default:
      return 'Ended';
  }
}

/** The steps that a task went through, by their messages, each once and in order. */
export function stepsOf({ ticks }: Pick<Story, 'ticks'>, limit = 12): readonly string[] {
  const steps: string[] = [];
  for (const { kind, text } of ticks)
    if (kind === 'progress' || kind === 'status') {
      const step = withoutCount(text);
      if (step !== '' && steps.at(-1) !== step) steps.push(step);
    }
  return steps.slice(-limit);
}

/** `2 of 5: Resting` is the step `Resting`; a count alone is not a step. */
function withoutCount(text: string): string {
  const colon = text.indexOf(': ');
  const start = text.charCodeAt(0);
  const hasCount = start >= 48 && start <= 57;
  if (!hasCount) return text;
  return colon === -1 ? '' : text.slice(colon + 2);
}
