// The seam between a server and the extension for events.

import type { Call, Outcome } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { WithDefaults } from '../../protocol/checks/options.js';
import type { Store } from '../../state/store.js';
import type { Topic } from '../../state/topic.js';
import type { Gate } from '../access/gate.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CompiledEvent } from '../catalog/events.js';
import type { EventRetention } from '../define/event-retention.js';
import type { WebhookDesk, WebhookOptions } from '../define/webhook-options.js';
import type { Complete } from '../results/results.js';
import type { ChangeMessage } from '../state/changes.js';
import type { EmitAny, RelayEvent } from '../state/emitting.js';
import type { Logger } from '../state/log.js';

/** Keeps events and delivers them to subscribers. The server knows only this interface. */
export interface EventHost {
  readonly methods: ReadonlyMap<string, (call: Call) => Promise<Outcome>>;
  readonly emit: EmitAny;
  /** Keeps an event of a type that is mounted here, and was emitted in the server that the type belongs to. */
  readonly relay: RelayEvent;
  /** Keeps the change of a resource as an event, for the types that have its URI. Resolves when it is kept, or cannot be; never rejects. */
  readonly changed: (message: ChangeMessage) => Promise<void>;
  /** The webhooks of the server, for its operator. Rejects if it has none. */
  readonly webhooks: WebhookDesk;
  /** Begins to deliver events to webhooks. */
  readonly start: () => Promise<void>;
  /** Begins with the schedule of a type that was added to a server that has started. */
  readonly added: () => void;
  /** Leaves the deliveries to other processes. Those that are under way may end within `drainMs`. */
  readonly drain: (options?: { readonly drainMs?: number }) => Promise<void>;
  /** Waits until everything that was emitted is kept, or has failed. */
  readonly close: () => Promise<void>;
}

/** Says that there are new events of a type. */
export interface EmittedNews {
  /** The name of the type. */
  readonly name: string;
}

/** The parts that an event host is made of. */
export interface EventPluginParts {
  /** The name of the server. */
  readonly server: string;
  readonly store: Store;
  /** Whether other processes share the events. */
  readonly isShared: () => boolean;
  readonly complete: Complete;
  /** The types of events. */
  readonly events: Catalog<CompiledEvent>;
  readonly gate: Gate;
  /** Whether a caller may be told that a resource has changed. */
  readonly mayFollow: (caller: Caller, uri: string) => boolean | Promise<boolean>;
  /** Tells of changes of the list of types, among others. */
  readonly changes: Topic<ChangeMessage>;
  /** Tells this process and others of new events. Messages may be lost. */
  readonly news: Topic<EmittedNews>;
  /** Tells the servers that this one is mounted in of an event. Each promise resolves when one of them keeps it. */
  readonly relay: (...event: Parameters<RelayEvent>) => readonly Promise<unknown>[];
  readonly log: Logger;
  /** How long events are kept, and how many. */
  readonly retention: WithDefaults<EventRetention, 'forMs'>;
  /** The options of webhooks; undefined if the server has none. */
  readonly webhooks: WebhookOptions | undefined;
  /** The secrets of the server. */
  readonly secrets: () => readonly string[] | undefined;
  /** The time after which a process that does not respond counts as dead. */
  readonly leaseMs: number | undefined;
}
