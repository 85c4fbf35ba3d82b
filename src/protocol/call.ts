import type { JsonObject, RequestId } from '../jsonrpc/message.js';
import type { LogLevel } from './log-level.js';
import type { ClientCapabilities, Implementation } from './model.js';
import type { Revision } from './revisions.js';

// #region flow
/** A server, a link to a remote, a proxy, a mock: whatever answers a call. It answers or it throws an `McpError`. */
export type Dispatch = (call: Call) => Promise<Outcome>;

/** Wraps a Dispatch: sees the call before and the outcome after, and may answer without calling `next`. */
export type Middleware = (call: Call, next: Dispatch) => Promise<Outcome>;
// #endregion

/** One request on its way in. Everything that belongs to the caller is on it; nothing is looked up elsewhere. */
export interface Call {
  /** The id the client gave the request; names the subscription that `subscriptions/listen` opens. */
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  readonly auth?: Auth | undefined;
  /** What is known of the HTTP request that carried the call. */
  readonly http?: HttpFacts | undefined;
  /** Aborts when the client cancels or goes away, when time runs out, and on shutdown. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this call. After the outcome it does nothing. */
  readonly notify: (method: string, params?: JsonObject) => void;
  /** Where the client can fetch the answer later: lets its connection go. Absent where it cannot. */
  readonly release?: (() => void) | undefined;
}

/** What the caller says of itself, for this call. */
export interface Peer {
  readonly revision: Revision;
  readonly client: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** Log messages below this level are not wanted; without a level, none are. */
  readonly logLevel: LogLevel | undefined;
}

/** Who the caller was proved to be. */
export interface Auth {
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<JsonObject>;
}

export interface HttpFacts {
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly remoteAddress: string | undefined;
  /** Reads the headers that must mirror the body; absent where the revision has no such headers. */
  readonly mirrored?: ((name: string) => string | undefined) | undefined;
}

/** The answer: a result with its type. `complete` ends the call; other types ask for more or come from extensions. */
export interface Outcome extends JsonObject {
  resultType: 'complete' | 'input_required' | (string & {});
}

const printed: unique symbol = Symbol('fullmcp.printed');

/** Freezes an outcome and keeps its JSON beside it. Not enumerable: a changed copy does not carry the old text. */
export function withPrint<T extends Outcome>(outcome: T): T {
  Object.defineProperty(outcome, printed, { value: JSON.stringify(outcome) });
  return Object.freeze(outcome);
}

export function printOutcome(outcome: Outcome): string {
  return (outcome as { [printed]?: string })[printed] ?? JSON.stringify(outcome);
}

/** Wraps `dispatch` in `middleware`, the first of the list outermost. Costs nothing when the list is empty. */
export function compose(middleware: readonly Middleware[], dispatch: Dispatch): Dispatch {
  return middleware.reduceRight<Dispatch>(
    (next, wrap) =>
      function dispatch(call) {
        return wrap(call, next);
      },
    dispatch,
  );
}
