// Goes to where a call is.

import { batch } from '@preact/signals';
import type { Story } from '../../src/inspector/contract/story.js';
import { go, route } from '../state/route.js';
import { shownRun } from '../state/shown-run.js';
import { current, openQuestions } from '../state/store.js';

/** Shows a call where it was made: a tool at its form, everything else on its own page. */
export function goToStory(story: Story): void {
  batch(() => {
    current.value = story.connection;
    if (story.kind === 'tool' || (story.kind === 'task' && story.method === 'tools/call')) {
      shownRun.value = story.id;
      go('tools', story.title);
    } else {
      go('call', String(story.id));
    }
  });
}

/** Goes to the next question that waits for the user, and round again. */
export function goToNextQuestion(): void {
  const open = [...new Map(openQuestions.value.map(({ story }) => [story.id, story])).values()];
  const here = route.value.place === 'call' ? Number(route.value.name) : shownRun.value;
  const at = open.findIndex(({ id }) => id === here);
  const next = open[(at + 1) % Math.max(1, open.length)];
  if (next) goToStory(next);
}
