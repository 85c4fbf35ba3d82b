// A planted bug.

import type { Store, StoreChange, Written } from 'fullmcp';
import type { EventLog } from 'fullmcp/http';
import type { Random } from '../world/random.js';

/** A planted bug of the store, the event log or the bus. */
export interface Plant {
  /** A sentence that says how it is wrong. */
  readonly bug: string;
  /** The seed where the search for it begins, if few show it; default 1. */
  readonly from?: number;
  readonly store?: (store: Store, random: Random) => Store;
  readonly log?: (log: EventLog, random: Random) => EventLog;
  /** The way in which the bus is wrong. */
  readonly bus?: 'no gaps' | 'no changes' | 'no sessions' | 'broken messages' | 'no end';
}

/** A store that makes other changes than it was told. */
export function changing(
  store: Store,
  change: (changes: readonly StoreChange[]) => readonly StoreChange[],
): Store {
  return {
    ...store,
    async write(changes, options): Promise<Written> {
      const changed = change(changes);
      return changed.length === 0 ? { ok: true } : store.write(changed, options);
    },
  };
}

/** A store that says that it has made some writes, and has not. */
export function forgetting(store: Store, isForgotten: (changes: readonly StoreChange[]) => boolean): Store {
  return {
    ...store,
    write: async (changes, options) => (isForgotten(changes) ? { ok: true } : store.write(changes, options)),
  };
}

/** Whether a change writes the head of a task with this status. */
export function putsStatus(change: StoreChange, status: string): boolean {
  return change.do === 'put' && change.key.startsWith('task:') && change.value['status'] === status;
}
