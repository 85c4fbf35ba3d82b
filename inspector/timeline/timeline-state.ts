// The state of the timeline: its filters, its search, what is selected, and where it was paused.

import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { MessageHead } from '../../src/inspector/contract/message.js';
import type { Story } from '../../src/inspector/contract/story.js';
import { remembered } from '../state/settings.js';
import { current, messages, ownStories } from '../state/store.js';
import { fits, type KindFilter, type StateFilter } from './model/filter.js';
import { itemsAfter, Search } from './model/search.js';

export const view: Signal<'calls' | 'messages'> = signal('calls');
export const kind: Signal<KindFilter> = signal('all');
export const state: Signal<StateFilter> = signal('any');
export const query: Signal<string> = signal('');
export const selectedStory: Signal<number | undefined> = signal(undefined);
export const selectedMessage: Signal<number | undefined> = signal(undefined);
/** While it is paused, what came after these numbers waits. */
export const pausedAt: Signal<{ readonly story: number; readonly message: number } | undefined> =
  signal(undefined);
export const detailHeight: Signal<number> = remembered('timelineDetail', 320);
export const isRaw: Signal<boolean> = remembered('timelineRaw', false);

/** The stories that the search has found so far. A new object for each change; undefined without a search. */
const found: Signal<{ readonly search: Search } | undefined> = signal(undefined);
const PAUSE_MS = 0;

const clock = {
  now: () => performance.now(),
  // A timer, and not a promise alone: the browser draws and scrolls between two timers.
  pause: () => new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS)),
};

/** The search for what is in the field now. An older one is stopped: it may take longer, and must not show what it finds. */
let search: Search | undefined;

effect(() => {
  const text = query.value.trim();
  if (search?.query !== text) search?.stop();
  if (text === '') {
    search = undefined;
    found.value = undefined;
    return;
  }
  if (search?.query !== text) search = new Search(text, clock);
  const own = search;
  void own.lookAt(ownStories.value, messages.value).then((isDone) => {
    if (isDone && own === search) found.value = { search: own };
  });
});

/** The stories to show, newest first. */
export const shownStories: ReadonlySignal<readonly Story[]> = computed(() => {
  const hits = query.value.trim() === '' ? undefined : found.value?.search.stories;
  const last = pausedAt.value?.story ?? Number.POSITIVE_INFINITY;
  const chosen: Story[] = [];
  const all = ownStories.value;
  for (let index = all.length - 1; index >= 0; index -= 1) {
    const story = all[index];
    if (!story || story.id > last || !fits(story, kind.value, state.value)) continue;
    if (!hits || hits.has(story.id)) chosen.push(story);
  }
  return chosen;
});

/** The messages to show, oldest first. */
export const shownMessages: ReadonlySignal<readonly MessageHead[]> = computed(() => {
  const hits = query.value.trim() === '' ? undefined : found.value?.search.messages;
  const last = pausedAt.value?.message ?? Number.POSITIVE_INFINITY;
  const isAll = kind.value === 'all' && state.value === 'any';
  const stories = new Set(isAll ? [] : shownStories.value.map(({ id }) => id));
  return messages.value.filter(
    ({ connection, seq, story }) =>
      connection === current.value &&
      seq <= last &&
      (!hits || hits.has(seq)) &&
      (isAll || (story !== undefined && stories.has(story))),
  );
});

/** How many stories wait behind the pause. */
export const waiting: ReadonlySignal<number> = computed(() => {
  const paused = pausedAt.value;
  return paused === undefined ? 0 : itemsAfter(ownStories.value, paused.story, ({ id }) => id).length;
});

export function togglePause(): void {
  pausedAt.value = pausedAt.value
    ? undefined
    : { story: ownStories.value.at(-1)?.id ?? 0, message: messages.value.at(-1)?.seq ?? 0 };
}

/** The messages of a story, in order. */
export function messagesOf({ id, firstMessage, lastMessage }: Story): readonly MessageHead[] {
  if (firstMessage === undefined) return [];
  const own: MessageHead[] = [];
  for (const head of itemsAfter(messages.value, firstMessage - 1, ({ seq }) => seq)) {
    if (lastMessage !== undefined && head.seq > lastMessage) break;
    if (head.story === id) own.push(head);
  }
  return own;
}
