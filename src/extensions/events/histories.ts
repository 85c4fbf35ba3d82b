// The logs of the types of events of a server, opened when they are first used.

import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { Store } from '../../state/store.js';
import { type EventHistory, type EventHistoryOptions, eventHistory } from './log/event-history.js';

type HistoriesParts = Pick<EventPluginParts, 'store' | 'server' | 'retention'>;

/** The logs of a server, by the names of the types. */
export class Histories {
  readonly #open = new Map<string, Promise<EventHistory>>();
  readonly #store: Store;
  readonly #server: string;
  readonly #options: EventHistoryOptions;

  constructor({ store, server, retention: { forMs, maxEvents } }: HistoriesParts) {
    this.#store = store;
    this.#server = server;
    this.#options = { retentionMs: forMs, maxUnits: maxEvents };
  }

  /** The log of a type. */
  of(name: string): Promise<EventHistory> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const opening = eventHistory(this.#store, { server: this.#server, name }, this.#options);
    this.#open.set(name, opening);
    return opening;
  }
}
