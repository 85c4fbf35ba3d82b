import type { JsonObject, RequestId } from '../jsonrpc/message.js';
import type { ClientCapabilities, Implementation } from './model/model.js';
import type { LogLevel } from './tables/log-level.js';
import type { Revision } from './tables/revisions.js';

// The values that flow: a call, its outcome, and the functions that answer and wrap calls.

// #region flow
/** Answers a call: a server, a link to a server, a proxy or a mock. Resolves with the outcome or throws an `McpError`. */
export type Dispatch = (call: Call) => Promise<Outcome>;

/** Wraps a `Dispatch`: sees the call before and the outcome after, and may answer without calling `next`. */
export type Middleware = (call: Call, next: Dispatch) => Promise<Outcome>;
// #endregion

/** One incoming request. It carries everything that belongs to the caller; nothing is looked up elsewhere. */
export interface Call {
  /** The id that the client gave the request; it also identifies the subscription that `subscriptions/listen` opens. */
  readonly id: RequestId;
  /** The protocol's method, such as `tools/call`. */
  readonly method: string;
  /** The parameters of the request, `_meta` included. */
  readonly params: JsonObject;
  /** The client as it describes itself; the server does not verify any of it. */
  readonly peer: Peer;
  /** The authenticated caller; undefined when nobody is authenticated. */
  readonly auth?: Auth | undefined;
  /** Facts about the HTTP request that carried the call; undefined on other transports. */
  readonly http?: HttpFacts | undefined;
  /** The way that the call has taken to the server; undefined if the caller is in the same process. */
  readonly via?: Via | undefined;
  /**
   * Whether the caller is the program that the server runs in or that has started the server (stdio). Unless it also has `auth`, it is
   * trusted: rules of access do not apply. Absent for all other callers, anonymous ones included.
   */
  readonly isLocal?: boolean | undefined;
  /** Whether another handler of the server makes the call (`ctx.call`). Its questions and steps belong to the call of that handler. */
  readonly isNested?: boolean | undefined;
  /** Whether a program of a model makes the call (`run_code`). It gets values, and no handles for them. */
  readonly inProgram?: boolean | undefined;
  /** The version of a tool that the caller knows, if the server still serves it. */
  readonly pinned?:
    | {
        /** Identifies the tool. */
        readonly of: object;
        /** The position of the version. */
        readonly at: number;
      }
    | undefined;
  /** Set if the server does for the client what the client cannot do itself (`fallbacks`): the call may become a task, also by its first question. */
  readonly standIn?:
    | {
        /** The id of that task. */
        readonly taskId: string;
        /** Whether the first question of an ordinary call makes it a task, instead of ending it. */
        readonly asks: boolean;
      }
    | undefined;
  /** Aborts when the client cancels the call or disconnects, when the call times out, and when the server shuts down. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this call. After the outcome it does nothing. */
  readonly notify: (method: string, params?: JsonObject) => void;
  /** Releases the client's connection while the call continues; absent if the client cannot fetch the response later. */
  readonly release?: (() => void) | undefined;
}

/** The client as it describes itself, with each call. */
export interface Peer {
  /** The protocol revision that the client speaks. */
  readonly revision: Revision;
  /** The client's name and version; undefined when the client does not send them. */
  readonly client: Implementation | undefined;
  /** The features that the client declares; the server must not use others. */
  readonly capabilities: ClientCapabilities;
  /** The lowest level of log messages that the client wants; undefined if it wants none. */
  readonly logLevel: LogLevel | undefined;
}

/** The authenticated caller. */
export interface Auth {
  /** The caller's name, unique and stable. Tasks, sessions and idempotency keys belong to it. */
  readonly subject: string;
  /** The permissions that were granted to the caller. */
  readonly scopes: readonly string[];
  /** Anything else that is known about the caller, such as the claims of its token. */
  readonly claims: Readonly<JsonObject>;
  /** The issuer of the caller's credentials. Subjects of two issuers are two callers, whatever their names. */
  readonly issuer?: string | undefined;
  /** The caller's email address, if its credentials have one that the issuer has verified. */
  readonly email?: string | undefined;
  /** The client that the caller uses, as the issuer names it. */
  readonly clientId?: string | undefined;
  /** When the credentials expire, in milliseconds since 1970. Streams of the caller end then. */
  readonly expiresAt?: number | undefined;
}

/** Facts about the HTTP request that carried a call. */
export interface HttpFacts {
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /**
   * The IP address at the other end of the connection, or of the client behind the proxies that the option `trustProxy` names; undefined
   * if the runtime does not know it.
   */
  readonly remoteAddress: string | undefined;
  /** The version of HTTP, such as `1.1`; undefined if the runtime does not know it. */
  readonly version?: string | undefined;
  /** Reads the headers that must agree with the body; absent if the revision has no such headers. */
  readonly mirrored?: ((name: string) => string | undefined) | undefined;
}

/** The facts of a request without its parameter headers, which belong to its body and not to a call that is made from it. */
export function withoutParamHeaders(http: HttpFacts | undefined): HttpFacts | undefined {
  if (http?.mirrored === undefined) return http;
  const { mirrored, ...facts } = http;
  return facts;
}

/** The transport of a connection. Connections to several servers have names of their own, such as `group`. */
export type TransportName = 'in-process' | 'http' | 'http+sse' | 'stdio' | 'websocket' | (string & {});

/** The way that a call has taken to the server. */
export interface Via {
  /** The transport. */
  readonly transport: TransportName;
  /** The session, or the connection that calls share; undefined if each call stands alone. */
  readonly session?:
    | {
        /** Calls `listener` when the session has ended in this process, unless the returned function was called before. */
        readonly onEnd: (listener: () => void) => () => void;
      }
    | undefined;
  /** The part of the client's program that has started this process, such as `claude-desktop`; undefined if the client does not say it. */
  readonly entryPoint?: string | undefined;
}

/** The result of a call, with its type. */
export interface Outcome extends JsonObject {
  /** `complete` ends the call; `input_required` asks the client for input; extensions add other types. */
  resultType: 'complete' | 'input_required' | (string & {});
}

const printed: unique symbol = Symbol('fullmcp.printed');

/** Freezes an outcome, or its `_meta`, and stores its JSON with it. Not enumerable, so that a changed copy lacks the old JSON. */
export function withPrint<T extends object>(value: T): T {
  Object.defineProperty(value, printed, { value: JSON.stringify(value) });
  return Object.freeze(value);
}

/** Prints an outcome. The parts that were printed before are not printed again. */
export function printOutcome(outcome: Outcome): string {
  const json = (outcome as WithPrint)[printed];
  if (json !== undefined) return json;
  const meta = (outcome['_meta'] as WithPrint | undefined)?.[printed];
  return meta !== undefined && isContentAlone(outcome)
    ? `{"resultType":"complete","content":${JSON.stringify(outcome['content'])},"_meta":${meta}}`
    : JSON.stringify(outcome);
}

interface WithPrint {
  readonly [printed]?: string;
}

// True for most results of tools. Printing them together with their `_meta` would take twice as long.
function isContentAlone(outcome: Outcome): boolean {
  for (const key in outcome) if (key !== 'resultType' && key !== 'content' && key !== '_meta') return false;
  return outcome.resultType === 'complete' && Array.isArray(outcome['content']);
}

/** Wraps `dispatch` in `middleware`, the first of the array outermost. Costs nothing when the array is empty. */
export function compose(middleware: readonly Middleware[], dispatch: Dispatch): Dispatch {
  return middleware.reduceRight<Dispatch>(
    (next, wrap) =>
      function dispatch(call) {
        return wrap(call, next);
      },
    dispatch,
  );
}
