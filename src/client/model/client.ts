/// <reference lib="esnext.disposable" preserve="true" />
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Outcome, TransportName } from '../../protocol/call.js';
import type { CodeOptions } from '../../protocol/code/code-options.js';
import type { CallSource, ErrorCode, McpError } from '../../protocol/errors.js';
import type {
  Implementation,
  ListedPrompt,
  ListedResource,
  ListedTemplate,
  ListedTool,
  ServerCapabilities,
} from '../../protocol/model/model.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type {
  EventArguments,
  EventNames,
  EventsOf,
  FollowedEvents,
  FollowOptions,
  ListedEvent,
  TypedEvent,
} from './events.js';
import type { CallOptions, LogMessage } from './options.js';
import type {
  CallResult,
  Completion,
  CompletionRequest,
  PromptResult,
  ReadResult,
  ToolAnswer,
} from './results.js';
import type { SubscribeOptions, SubscribeTo, Subscription } from './subscriptions.js';
import type { TaskHandle } from './tasks.js';
import type { TypedTools } from './typed.js';

// The client as a program sees it.

export type {
  EventStore,
  FollowedEvents,
  FollowOptions,
  ListedEvent,
  ReceivedEvent,
  TypedEvent,
} from './events.js';
export type { CallResult, Completion, PromptResult, ReadResult } from './results.js';
export type { Change, SubscribeOptions, SubscribeTo, Subscription } from './subscriptions.js';
export type { TaskHandle, TaskState } from './tasks.js';

/**
 * A client of one server, or of several as if they were one. It is ready when `connect` returns it; `await using` closes it.
 */
export interface Client<S = unknown> extends AsyncDisposable {
  /** The current state of the connection. */
  readonly status: Status;
  /** The server's description of itself: name, capabilities, instructions and revision. */
  readonly server: ServerFacts;
  /**
   * The server's tools as functions, with the types of `connect<typeof server>`. Each returns the tool's data, or its text, and
   * throws when the tool fails.
   */
  readonly tool: TypedTools<S>;

  /** Lists the tools. A server without tools gives an empty list. */
  readonly tools: (options?: CallOptions) => Listing<ListedTool>;
  /** Lists the resources that have a fixed URI. */
  readonly resources: (options?: CallOptions) => Listing<ListedResource>;
  /** Lists the URI templates of resources. */
  readonly templates: (options?: CallOptions) => Listing<ListedTemplate>;
  /** Lists the prompts. */
  readonly prompts: (options?: CallOptions) => Listing<ListedPrompt>;
  /** Lists the types of events that the server tells. Nothing is sent to a server without events: the list is empty. */
  readonly events: (options?: CallOptions) => Listing<ListedEvent>;

  /**
   * Calls a tool and waits for its result, even if the tool asks for input or the call becomes a task. A failure of the tool
   * itself is a result with `isError`, not an exception.
   */
  readonly callTool: (name: string, args?: object, options?: ToolCallOptions) => Promise<CallResult>;
  /**
   * Calls a tool and returns a handle as soon as the server has made a task of the call. If the server makes no task, waits
   * for the result and returns a handle that has it.
   */
  readonly startTool: (name: string, args?: object, options?: ToolCallOptions) => Promise<TaskHandle>;
  /** Returns the handle of the task with this id. An earlier run of this program may have started the task. */
  readonly task: (id: string) => TaskHandle;
  /** Reads a resource. Fails with `resource_not_found` if the server has no resource with this URI. */
  readonly readResource: (uri: string, options?: CallOptions) => Promise<ReadResult>;
  /** Gets a prompt, filled in with its arguments. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ) => Promise<PromptResult>;
  /** Asks the server for values that complete an argument of a prompt or of a URI template. */
  readonly complete: (request: CompletionRequest, options?: CallOptions) => Promise<Completion>;

  /**
   * Subscribes to changes. They are reported until the subscription is closed, even after a reconnect. A string is the URI of
   * a resource. Resolves when the server has acknowledged the subscription.
   */
  readonly subscribe: (to: string | SubscribeTo, options?: SubscribeOptions) => Promise<Subscription>;

  /**
   * Makes two tools for a model in place of those of the server, or of all servers of a group: `search_tools` and `run_code`, which runs a
   * program in this process that calls them. With `approve`, the handler `elicit` of this client asks the user.
   */
  readonly code: (options: CodeOptions) => Promise<ClientCode>;

  /** Sends a request with any method, such as a method of your own. Returns the outcome as the server sent it. */
  readonly request: (method: string, params?: JsonObject, options?: CallOptions) => Promise<Outcome>;
  /** Sends the server a small request; returns the time until the response, in milliseconds. */
  readonly ping: (options?: CallOptions) => Promise<number>;
  /** Sets the least severe level of log messages for later calls; `undefined` asks for no messages. */
  readonly setLogLevel: (level: LogLevel | undefined) => void;
  /**
   * Notifies a server of a revision before 2026-07-28 that the roots have changed. Does nothing for newer servers, which ask
   * for the roots when they need them.
   */
  readonly rootsChanged: () => Promise<void>;
  /** Returns the calls that have no response yet. */
  readonly pending: () => readonly PendingCall[];
  /** Returns the state of the connection as JSON, for logs and diagnostics. */
  readonly info: () => ClientInfo;
  /**
   * With two arguments, listens to the client itself: to its connection, its log, its problems. With three or four, subscribes to events
   * of the server: `client.on('ticket_changed', { queue: 'billing' }, handler, { store })`.
   */
  readonly on: ClientOn;
  /** For types only: the types of events of the server. */
  readonly '~events'?: EventsOf<S>;
  /**
   * Closes the connection: open calls fail with `connection_closed`, and a process that was started is ended. Resolves when
   * everything has ended, after 7 s at most.
   */
  readonly close: () => Promise<void>;
}

/** Listens to a client, or to events of its server. The types of events are those of the client that it is called on. */
export interface ClientOn {
  /**
   * Calls `listener` with each event of the client itself; the returned function removes the listener. An error that a listener throws
   * becomes a `problem` event.
   */
  <E extends keyof ClientEvents>(event: E, listener: (value: ClientEvents[E]) => void): () => void;
  /**
   * Subscribes to a type of events of the server, and calls `handler` with each event, one after the other and each event once. The
   * events come on a stream, or by polling if the type has no streams. The subscription survives lost connections. An error of the
   * handler becomes a `problem` event, and the next event follows. Resolves when the server has accepted the subscription.
   */
  <C, Name extends EventNames<EventsOf<C>>>(
    this: C,
    name: Name,
    args: EventArguments<EventsOf<C>, Name>,
    handler: (event: TypedEvent<EventsOf<C>, Name>) => void | Promise<void>,
    options?: FollowOptions,
  ): Promise<FollowedEvents>;
}

/** The state of a client's connection. Calls made while it is `reconnecting` wait; a `closed` client stays closed. */
export type Status = 'ready' | 'reconnecting' | 'closed';

/** The events of a client, by name, with the value that a listener receives. */
export interface ClientEvents {
  /** The connection was lost, restored or closed. */
  readonly status: {
    /** The new state. */
    readonly status: Status;
    /** The error that led to the new state; absent if the client is ready again or `close` was called. */
    readonly reason?: McpError;
  };
  /** A log message of the server. */
  readonly log: LogMessage;
  /** Something went wrong without failing a call: an unreadable line, a skipped tool, a listener that threw. */
  readonly problem: {
    /** The problem in one sentence. */
    readonly message: string;
    /** The error that caused the problem. */
    readonly cause?: unknown;
  };
  /** A notification that is neither progress nor a log message of a call. */
  readonly notification: {
    /** The notification's method, such as `notifications/tools/list_changed`. */
    readonly method: string;
    /** The notification's parameters. */
    readonly params: JsonObject | undefined;
  };
}

/** The server's description of itself, and the revision that was agreed on. */
export interface ServerFacts {
  /** The server's name and version; undefined if the server does not send them. */
  readonly info: Implementation | undefined;
  /** The features that the server declares. */
  readonly capabilities: Readonly<ServerCapabilities>;
  /** Advice for models on how to use the server. */
  readonly instructions: string | undefined;
  /** The protocol revision spoken on this connection. */
  readonly revision: Revision;
}

/** The state of a connection, as JSON. */
export interface ClientInfo {
  /** The state of the connection. */
  readonly status: Status;
  /** The transport that carries the messages. */
  readonly transport: TransportName;
  /** The server's URL without secrets, or its command. */
  readonly target: string;
  /** The protocol revision spoken on this connection. */
  readonly revision: Revision;
  /** The server's description of itself. */
  readonly server: ServerFacts;
  /** The time when the connection was opened, or opened again, as an ISO 8601 string. */
  readonly connectedAt: string;
  /** The time of the latest response, notification or question of the server, as an ISO 8601 string. */
  readonly lastActivityAt: string;
  /** The latest error of a call or of the connection, except calls that the program cancelled; undefined if there was none. */
  readonly lastError: LastError | undefined;
  /** The number of calls that have no response yet. */
  readonly pending: number;
  /** The number of times that the client has reconnected. */
  readonly reconnects: number;
  /** The latest problems, 20 at most, oldest first. */
  readonly problems: readonly string[];
}

/** The latest error of a client, as JSON. */
export interface LastError {
  /** The time of the error, as an ISO 8601 string. */
  readonly at: string;
  /** The stable name of the error. */
  readonly code: ErrorCode;
  /** The message of the error; at most 500 characters. */
  readonly message: string;
  /** The call that failed; undefined if the connection itself failed. */
  readonly source: CallSource | undefined;
}

/** A call that has no response yet. */
export interface PendingCall {
  /** The id that the client gave the call. Results and errors of the call have the same one, as `source.requestId`. */
  readonly requestId: number;
  /** The protocol's method, such as `tools/call`. */
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource; undefined for other calls. */
  readonly name: string | undefined;
  /** The time since the call began, in milliseconds. */
  readonly sinceMs: number;
  /** The latest progress that the server reported. */
  readonly lastProgress: number | undefined;
}

/** A list, fetched page by page as it is iterated. Each iteration starts again at the first page. */
export interface Listing<T> extends AsyncIterable<T> {
  /** Fetches all pages. */
  readonly all: () => Promise<readonly T[]>;
}

/** The options of one tool call. */
export interface ToolCallOptions extends CallOptions {
  /**
   * A key that identifies the call: a server that supports idempotency keys runs the tool only once, however often the call is
   * sent. The client retries such a call if the tool was listed as one that supports keys.
   */
  readonly idempotencyKey?: string;
}

/**
 * Two tools for a model in place of all tools of a client: `search_tools`, which finds them, and `run_code`, which runs a program that calls
 * them. `toTools` takes it in place of the client.
 */
export interface ClientCode {
  /** The two tools, to give to the model. The array and its contents never change. */
  readonly tools: readonly ListedTool[];
  /** Makes a call of the model, to one of `tools`. A failure of a program is a result with `isError`. */
  readonly call: (name: string, args?: object, options?: ToolCallOptions) => Promise<ToolAnswer>;
  /** Finds tools by words, and returns a line of TypeScript for each, the best first: what `search_tools` returns. */
  readonly search: (
    query: string,
    options?: {
      /** The number of tools, at most 50. Default: 5. */
      readonly limit?: number;
    },
  ) => Promise<string>;
  /**
   * Runs a program: the body of an async function, in JavaScript or TypeScript. `data` has what it returned (`result`), what it printed and
   * the number of its calls. If the program failed, `isError` is true, and the text says where and which calls were made.
   */
  readonly run: (code: string, options?: ToolCallOptions) => Promise<ToolAnswer>;
}
