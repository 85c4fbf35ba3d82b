// The reads of a resource: the latest one is shown, and the one before it is what it is compared with.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { isOver, outcomeOf } from '../../state/settled.js';

/** A larger result is not fetched into the page without a click. */
export const MAX_SHOWN_BYTES = 5_000_000;

/** The reads of a resource, oldest first. */
export function readsOf(stories: readonly Story[], uri: string): readonly Story[] {
  // A resource may have changed since an earlier visit.
  return stories.filter(
    ({ kind, title, earlier }) => kind === 'read' && title === uri && earlier === undefined,
  );
}

export interface Reads {
  /** The latest that is over. */
  readonly latest: Story | undefined;
  /** The latest before it that succeeded. */
  readonly before: Story | undefined;
  readonly running: Story | undefined;
}

export function sortReads(reads: readonly Story[]): Reads {
  const over = reads.filter(isOver);
  const latest = over.at(-1);
  return {
    latest,
    before: over.slice(0, -1).findLast(({ state }) => state === 'ok'),
    running: reads.findLast((story) => !isOver(story)),
  };
}

export interface FetchedOutcome {
  readonly outcome: JsonObject | undefined;
  readonly isFetching: boolean;
}

/** The outcome of a story, fetched if it is not part of the story. */
export function useOutcome(story: Story | undefined, maxBytes: number = MAX_SHOWN_BYTES): FetchedOutcome {
  const fetched = useSignal<{ id: number; outcome: JsonObject | undefined } | undefined>(undefined);
  const needsFetch =
    story !== undefined &&
    story.outcome === undefined &&
    (story.outcomeBytes ?? 0) > 0 &&
    story.error === undefined;
  const id = story?.id;
  useEffect(() => {
    if (!needsFetch || story === undefined || fetched.value?.id === id) return undefined;
    let isWanted = true;
    outcomeOf(story, maxBytes).then(
      (outcome) => {
        if (isWanted) fetched.value = { id: story.id, outcome };
      },
      () => {
        if (isWanted) fetched.value = { id: story.id, outcome: undefined };
      },
    );
    return () => {
      isWanted = false;
    };
  }, [id, needsFetch, maxBytes]);
  if (!needsFetch) return { outcome: story?.outcome, isFetching: false };
  const isHere = fetched.value?.id === id;
  return { outcome: isHere ? fetched.value?.outcome : undefined, isFetching: !isHere };
}
