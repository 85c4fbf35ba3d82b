// The seam between the events of a server and their webhooks, which most servers do not have.

import type { Call, Outcome } from '../../protocol/call.js';
import type { WebhookDesk } from '../../server/define/webhook-options.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { StoreChange } from '../../state/store.js';
import type { Histories } from './histories.js';

/** The webhooks of a server. */
export interface WebhookHost extends WebhookDesk {
  /** Answers `events/subscribe`. */
  readonly subscribe: (call: Call) => Promise<Outcome>;
  /** Answers `events/unsubscribe`. */
  readonly unsubscribe: (call: Call) => Promise<Outcome>;
  /** The changes that belong in the write of new events, by the group of their type. */
  readonly changes: (typeGroup: string) => readonly StoreChange[];
  /** Begins to deliver. */
  readonly start: () => void;
  /** Leaves the deliveries to other processes. Those that are under way may end within `drainMs`. */
  readonly close: (drainMs: number) => Promise<void>;
}

/** Loads the webhooks of a server. */
export type LoadWebhooks = (parts: EventPluginParts, histories: Histories) => Promise<WebhookHost>;
