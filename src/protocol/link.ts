import type { JsonObject } from '../jsonrpc/message.js';
import type { Dispatch, Peer } from './call.js';
import type { McpError } from './errors.js';
import type { InputRequest } from './model/input.js';
import type { Discovered } from './model/model.js';
import type { Revision } from './tables/revisions.js';

/** An open way to a server. Whatever the server speaks, the calls on it are those of the newest revision. */
export interface Link {
  /**
   * Carries a call to the server and gives its outcome, or throws an `McpError`. What belongs to the call goes to
   * `call.notify`. The link gives the request its own id, and stamps `call.peer` on it as its revision wants it.
   */
  readonly dispatch: Dispatch;
  /** What is spoken on the wire. */
  readonly revision: Revision;
  readonly transport: TransportName;
  /** What the server said of itself when the link was opened. */
  readonly discovered: Discovered;
  /** Whether changes that a subscription receives are reported to `LinkEvents.notification` as well, as in a session. */
  readonly reportsChanges?: boolean | undefined;
  /** Whether the link itself drops the parts of a subscription that the server does not offer. */
  readonly filtersSubscriptions?: boolean | undefined;
  /** Whether the server expects to be told when the client's roots change. */
  readonly expectsRootChanges?: boolean | undefined;
  /** Ends it: what is open fails with `connection_closed`. Resolves when nothing of it is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The transport of a connection. Connections to several servers have names of their own, such as `group`. */
export type TransportName = 'in-process' | 'http' | 'http+sse' | 'stdio' | 'websocket' | (string & {});

/** What a link tells beside the outcomes of calls. None of these may throw. */
export interface LinkEvents {
  /** What the server says that belongs to no call: changes of a session, log messages on a shared channel. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  /**
   * Answers what a server of the session era asks with a request of its own. Rejects with an `McpError`. `server` says who
   * asks where that is not the server at the other end.
   */
  readonly ask: (request: InputRequest, signal: AbortSignal, server?: string) => Promise<JsonObject>;
  /** Something odd that was put up with: a junk line, a tool that was left out. */
  readonly problem: (message: string, cause?: unknown) => void;
  /** The link is lost, not by `close`. Called once at most, after its calls have failed. */
  readonly lost: (reason: McpError) => void;
}

/** Opens a link. Rejects with an `McpError`; then nothing is left open. */
export type OpenLink = (events: LinkEvents, options: OpenOptions) => Promise<Link>;

export interface OpenOptions {
  /** Gives up. */
  readonly signal: AbortSignal;
  /** Who is connecting; a handshake tells the server. */
  readonly client: Pick<Peer, 'client' | 'capabilities'>;
  /** Hears of what is still ending when opening was given up: a process may take its time. */
  readonly leaving?: (left: Promise<void>) => void;
}
