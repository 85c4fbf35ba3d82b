// The run whose result the place of tools shows.

import { type Signal, signal } from '@preact/signals';

/** The id of a story; undefined is the latest run of the tool. */
export const shownRun: Signal<number | undefined> = signal(undefined);
