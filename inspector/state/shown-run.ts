// The run whose result the place of tools shows, and the one to compare others with.

import { type Signal, signal } from '@preact/signals';

/** The id of a story; undefined is the latest run of the tool. */
export const shownRun: Signal<number | undefined> = signal(undefined);

/** The id of the story that was marked, to be compared with another one, also of another server. */
export const markedRun: Signal<number | undefined> = signal(undefined);
