// The planted bug of events.

import type { StoreChange } from 'fullmcp';
import type { Invariant } from '../checks/invariants.js';
import { forgetting, type Plant } from './plant.js';

/** A bug for the promise about events. */
export const eventPlants = {
  'event not told once in order': {
    bug: 'the store forgets events',
    store: (store, random) => forgetting(store, (changes) => changes.some(isEvent) && random.chance(0.2)),
  },
} as const satisfies Partial<Record<Invariant, Plant>>;

function isEvent(change: StoreChange): boolean {
  return change.do === 'append' && change.list.startsWith('event-log:');
}
