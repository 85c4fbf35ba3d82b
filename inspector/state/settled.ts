// Waits for the end of a story, and fetches its outcome if that is too large to be part of the story.

import { effect } from '@preact/signals';
import type { Story } from '../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import { CommandFailure, outcomeAddress } from './api.js';
import { stories } from './store.js';

const OPEN: ReadonlySet<Story['state']> = new Set(['running', 'asks', 'open']);

export const isOver = ({ state }: Story): boolean => !OPEN.has(state);

/** Resolves with the story when it is over. Rejects if it is removed before. */
export function settled(id: number, signal?: AbortSignal): Promise<Story> {
  return new Promise((resolve, reject) => {
    let wasThere = false;
    let stop: (() => void) | undefined;
    const end = (settle: () => void): void => {
      // An effect cannot be stopped before its first run has returned.
      queueMicrotask(() => stop?.());
      settle();
    };
    signal?.addEventListener('abort', () => end(() => reject(signal.reason)), { once: true });
    stop = effect(() => {
      const story = stories.value.get(id);
      if (story === undefined) {
        // A new story arrives with the next events.
        if (wasThere) end(() => reject(new CommandFailure({ code: 'gone', message: 'It was cleared.' })));
        return;
      }
      wasThere = true;
      if (isOver(story)) end(() => resolve(story));
    });
  });
}

/** The outcome as the server sent it; undefined if there is none. */
export async function outcomeOf(
  story: Story,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<JsonObject | undefined> {
  if (story.outcome !== undefined) return story.outcome;
  if (story.outcomeBytes === undefined || story.outcomeBytes > maxBytes) return undefined;
  const response = await fetch(outcomeAddress(story.id));
  const value: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  return isObject(value) ? value : undefined;
}
