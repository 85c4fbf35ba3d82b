// The seam between the events of a server and their sources: transactions and schedules, which most servers do not have.

import type { CompiledEvent } from '../../server/catalog/events.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { EmitAny } from '../../server/state/emitting.js';
import { putInOf, type TransactionClient } from '../../state/transaction.js';
import type { Histories } from './histories.js';
import type { Appended, NewEvent } from './log/stored-event.js';
import type { LoadWebhooks } from './webhook-host.js';

/** Where events come from, besides `emit`. */
export interface SourceHost {
  /** Keeps an event in a transaction. It is told when the transaction is committed. */
  readonly keep: (type: CompiledEvent, event: NewEvent, client: TransactionClient) => Promise<Appended>;
  /** Begins to tell the events of transactions that were committed. Call it again when there are other types. */
  readonly start: () => void;
  /** Leaves everything to other processes. Work that is under way may end within `drainMs`. */
  readonly close: (drainMs: number) => Promise<void>;
}

/** The parts that the sources are made of. */
export interface SourceParts {
  readonly parts: EventPluginParts;
  readonly histories: Histories;
  readonly emit: EmitAny;
}

/** Loads the parts of events that most servers do not use. */
export interface EventLoaders {
  readonly loadWebhooks: LoadWebhooks;
  readonly loadSources: (sources: SourceParts) => Promise<SourceHost>;
}

/** Whether events may come from elsewhere than `emit`, so that this process has to look for them. */
export function hasSources({ store }: Pick<EventPluginParts, 'store'>): boolean {
  return putInOf(store) !== undefined;
}
