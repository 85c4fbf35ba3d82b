// The seam between the events of a server and their sources: transactions and schedules, which most servers do not have.

import type { CompiledEvent } from '../../server/catalog/events.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { ChangeMessage, Recipient } from '../../server/state/changes.js';
import type { EmitAny, EmitOptions, Emitted } from '../../server/state/emitting.js';
import { putInOf, type TransactionClient } from '../../state/transaction.js';
import type { Histories } from './histories.js';
import type { Appended, NewEvent } from './log/stored-event.js';
import type { LoadWebhooks } from './webhook-host.js';

/** Where events come from, besides `emit`. */
export interface SourceHost {
  /** Keeps an event in a transaction. It is told when the transaction is committed. */
  readonly keep: (type: CompiledEvent, event: NewEvent, client: TransactionClient) => Promise<Appended>;
  /** Keeps the change of a resource as events. Resolves when they are kept, or cannot be. */
  readonly changed: (message: ChangeMessage) => Promise<void>;
  /**
   * Begins to tell the events of transactions that were committed, and of schedules. Call it again when there are other types. Rejects if a
   * schedule is wrong.
   */
  readonly start: () => Promise<void>;
  /** Leaves everything to other processes. Work that is under way may end within `drainMs`. */
  readonly close: (drainMs: number) => Promise<void>;
  /** Waits for the changes of resources that are not kept yet. After `close`: the server may announce some in between. */
  readonly end: () => Promise<void>;
}

/** The parts that the sources are made of. */
export interface SourceParts {
  readonly parts: EventPluginParts;
  readonly histories: Histories;
  readonly read: ReadEvent;
  /** Emits an event, if `to` is given to these callers alone. */
  readonly emit: (
    ...event: [...Parameters<EmitAny>, to?: readonly Recipient[] | undefined]
  ) => Promise<Emitted>;
}

/** Checks an event, and gives it an id and a time if it has none. */
export type ReadEvent = (type: CompiledEvent, data: unknown, options: EmitOptions) => Promise<NewEvent>;

/** Loads the parts of events that most servers do not use. */
export interface EventLoaders {
  readonly loadWebhooks: LoadWebhooks;
  readonly loadSources: (sources: SourceParts) => Promise<SourceHost>;
}

/** Whether events may come from elsewhere than `emit`, so that this process has to look for them. */
export function hasSources({ store, events }: Pick<EventPluginParts, 'store' | 'events'>): boolean {
  return putInOf(store) !== undefined || [...events.values()].some(({ schedule }) => schedule !== undefined);
}
