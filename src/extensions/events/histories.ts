// The logs of the types of events of a server, opened when they are first used.

import type { Store } from '../../state/store.js';
import { type EventHistory, eventHistory } from './log/event-history.js';

/** The time for which an event is kept for subscribers that were away, at least. */
const RETENTION_MS = 24 * 3_600_000;

/** The logs of a server, by the names of the types. */
export class Histories {
  readonly #open = new Map<string, Promise<EventHistory>>();
  readonly #store: Store;
  readonly #server: string;

  constructor(store: Store, server: string) {
    this.#store = store;
    this.#server = server;
  }

  /** The log of a type. */
  of(name: string): Promise<EventHistory> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const options = { retentionMs: RETENTION_MS };
    const opening = eventHistory(this.#store, { server: this.#server, name }, options);
    this.#open.set(name, opening);
    return opening;
  }
}
