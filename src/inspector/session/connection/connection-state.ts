// The state of a connection that its parts read.

import type { Client } from '../../../client/model/client.js';
import type { Root } from '../../../protocol/model/input.js';
import type { LogLevel } from '../../../protocol/tables/log-level.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import type { ChatView } from '../../contract/chat.js';
import type { CatalogView, ConnectionView, TargetSpec } from '../../contract/connection.js';
import type { Failure } from '../../contract/failure.js';
import type { OpenedTarget } from '../../contract/options.js';
import type { Wiretap } from '../../wiretap/wiretap.js';
import type { ConnectionAuth } from './authorization.js';
import type { ConnectLog } from './connect-log.js';
import type { EventFollower } from './followed-events.js';
import type { KnownTasks } from './known-tasks.js';
import type { ReceivedWebhooks } from './received-webhooks.js';
import type { SharedParts } from './shared-parts.js';
import type { OpenSubscriptions } from './subscriptions.js';
import type { ConnectionTape } from './tape-recorder.js';

export interface ConnectionInit {
  readonly id: string;
  readonly opened: OpenedTarget;
  readonly spec: TargetSpec;
  readonly isFixed: boolean;
  readonly seesJournal: boolean;
  readonly tasks: KnownTasks;
  readonly shared: SharedParts;
}

/** The chat of a connection, as far as the connection knows it. */
export interface ConnectionChat {
  readonly view: ChatView;
  readonly stop: () => void;
}

export interface ConnectionState {
  readonly id: string;
  readonly init: ConnectionInit;
  readonly status: ConnectionView['status'];
  readonly client: Client | undefined;
  /** The client, and the tap that its calls go through. Throws if there is none that can be used. */
  readonly open: { readonly client: Client; readonly tap: Wiretap };
  readonly catalog: CatalogView;
  readonly subscriptions: OpenSubscriptions;
  readonly events: EventFollower;
  readonly webhooks: ReceivedWebhooks;
  readonly authorization: ConnectionAuth;
  readonly tasks: KnownTasks;
  readonly tape: ConnectionTape;
  readonly log: ConnectLog;
  /** Replaces the secrets of this connection in a string. */
  readonly mask: (text: string) => string;
  readonly roots: readonly Root[];
  readonly logLevel: LogLevel | undefined;
  readonly requestedRevision: Revision | undefined;
  readonly roundTripMs: number | undefined;
  readonly failure: Failure | undefined;
  readonly suggestion: string | undefined;
  readonly exit: string | undefined;
  /** The page is told that something has changed. */
  readonly changed: () => void;
}
