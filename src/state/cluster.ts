// The engine that the processes of a server share.

import type { Bus } from './bus.js';
import type { EventLog } from './event-log.js';
import type { Store } from './store.js';

/** The advice for an operator whose processes may not share what they must. */
export const SHARING_ADVICE =
  'If several processes serve this server, set MCP_SECRET to the same value in all of them, and MCP_CLUSTER_URL (or the option "cluster") to an engine that they share.';

/** The state that the processes of a server share, or that its only process has. */
export interface SharedState {
  /** The name of the server. Servers with other names may share the same store. */
  readonly server: string;
  /** The store of the server. */
  readonly store: Store;
  /** The bus; undefined if there is only one process. */
  readonly bus: () => Bus | undefined;
  /** The event log; undefined if each process has its own. */
  readonly eventLog: () => EventLog | undefined;
  /** The time after which a process that does not respond counts as dead. Default: 15 s. */
  readonly leaseMs?: number | undefined;
  /** Whether the cluster responds; true if there is none. Default: it does. */
  readonly isReady?: () => Promise<boolean>;
}

/** The engine that the processes of a server share. Made by the entry of an engine: `fullmcp/postgres`, `fullmcp/redis`, `fullmcp/nats`. */
export interface Cluster {
  /** The store; undefined for an engine that is not one. */
  readonly store?: Store;
  /** The bus that connects the processes. */
  readonly bus: Bus;
  /** The event log of the sessions. */
  readonly eventLog: EventLog;
  /** Connects, prepares the engine and checks its settings. Returns warnings for the operator, in whole sentences. */
  start(): Promise<readonly string[]>;
  /** Resolves if the engine responds; rejects with the reason if it does not. */
  ping(): Promise<void>;
  /** Closes the store, the bus, the event log and their connections. */
  close(): Promise<void>;
}
