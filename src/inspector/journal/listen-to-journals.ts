// Listens to the journals of servers in this process.

import { channel } from 'node:diagnostics_channel';
import { BoundedMap } from '../../async/bounded-map.js';
import { JOURNAL_CHANNEL, type RunEvent } from '../../protocol/telemetry/journal-event.js';
import type { JournalEvent } from '../contract/options.js';

/** The stories whose runs are counted. The oldest one is forgotten first. */
const MAX_STORIES = 1000;

/** Calls `listener` with what the runs of handlers in this process meet. Returns the function that ends it. */
export function listenToJournals(listener: (event: JournalEvent) => void): () => void {
  const runsOf = new BoundedMap<number, string[]>(MAX_STORIES);
  const heard = (message: unknown): void => {
    try {
      const { run, ...event } = message as RunEvent;
      listener({ ...event, run: numberOf(run, event.story, runsOf) });
    } catch {
      // An error of a listener would end the process of the server that is inspected.
    }
  };
  const journals = channel(JOURNAL_CHANNEL);
  journals.subscribe(heard);
  return () => void journals.unsubscribe(heard);
}

/** The number of a run among those of its story, from 1. */
function numberOf(run: string, story: number, runsOf: Map<number, string[]>): number {
  const runs = runsOf.get(story) ?? [];
  if (!runs.includes(run)) runs.push(run);
  runsOf.set(story, runs);
  return runs.indexOf(run) + 1;
}
