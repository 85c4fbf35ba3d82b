import type { JsonObject } from '../jsonrpc/message.js';
import type { Dispatch, Peer, TransportName } from './call.js';
import type { McpError } from './errors.js';
import type { InputRequest } from './model/input.js';
import type { Discovered } from './model/model.js';
import type { Revision } from './tables/revisions.js';

// The seam between the client and the transports: an open connection, and how to open one.

/** An open connection to a server. Calls on it are always those of the newest revision, whatever revision the server speaks. */
export interface Link {
  /**
   * Carries a call to the server and returns its outcome, or throws an `McpError`. Notifications of the call go to
   * `call.notify`. The link gives the request its own id, and adds `call.peer` in the form of its revision.
   */
  readonly dispatch: Dispatch;
  /** The revision that is spoken on the wire. */
  readonly revision: Revision;
  readonly transport: TransportName;
  /** The id of the session, if the server has given it one. With it, a stranger may be able to use the session. */
  readonly sessionId?: string | undefined;
  /** The server's description of itself when the link was opened. */
  readonly discovered: Discovered;
  /** Whether changes that a subscription receives are reported to `LinkEvents.notification` as well, as in a session. */
  readonly reportsChanges?: boolean | undefined;
  /** Whether the link itself drops the parts of a subscription that the server does not offer. */
  readonly filtersSubscriptions?: boolean | undefined;
  /**
   * The name of the server that an outcome, an error, or the id of a task comes from, if the link leads to several servers;
   * undefined if it does not come from one of them.
   */
  readonly serverOf?: ((settled: unknown) => string | undefined) | undefined;
  /** Whether the server expects to be told when the client's roots change. */
  readonly expectsRootChanges?: boolean | undefined;
  /** Closes the link: open calls fail with `connection_closed`. Resolves when nothing of the link is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The events of a link, beside the outcomes of calls. None of these functions may throw. */
export interface LinkEvents {
  /** A notification that does not belong to a call: changes in a session, log messages on a shared channel. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  /**
   * Answers a request that a server of the session era sends. Rejects with an `McpError`. `server` names the server that asks,
   * if that is not the one at the other end.
   */
  readonly ask: (request: InputRequest, signal: AbortSignal, server?: string) => Promise<JsonObject>;
  /** Runs `work` while the timeouts of connecting and of calls are paused: it waits for the user, who logs in. */
  readonly whileAsking?: <T>(work: () => Promise<T>) => Promise<T>;
  /** A problem that was tolerated: an unreadable line, a skipped tool. */
  readonly problem: (message: string, cause?: unknown) => void;
  /** The link was lost, not closed with `close`. Called at most once, after its calls have failed. */
  readonly lost: (reason: McpError) => void;
}

/** Opens a link. Rejects with an `McpError`; then nothing is left open. */
export type OpenLink = (events: LinkEvents, options: OpenOptions) => Promise<Link>;

export interface OpenOptions {
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  /** The client's description of itself, which a handshake sends to the server. */
  readonly client: Pick<Peer, 'client' | 'capabilities'>;
  /** Called with a promise for anything that still has to end after the attempt: a process may take its time. */
  readonly waitUntil?: (ending: Promise<void>) => void;
}
