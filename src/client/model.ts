/// <reference lib="esnext.disposable" preserve="true" />
import type { JsonObject } from '../jsonrpc/message.js';
import type { Outcome } from '../protocol/call.js';
import type { ContentBlock, ResourceContents } from '../protocol/content.js';
import type { McpError } from '../protocol/errors.js';
import type { TransportName } from '../protocol/link.js';
import type { LogLevel } from '../protocol/log-level.js';
import type {
  Implementation,
  ListedPrompt,
  ListedResource,
  ListedTemplate,
  ListedTool,
  PromptMessage,
  ServerCapabilities,
} from '../protocol/model.js';
import type { Revision } from '../protocol/revisions.js';
import type { CallOptions, LogMessage, Progress } from './options.js';
import type { TypedTools } from './typed.js';

/** A client of one server, or of several as if they were one. Ready when `connect` returns it. */
export interface Client<S = unknown> extends AsyncDisposable {
  readonly status: Status;
  /** What the server said of itself. */
  readonly server: ServerFacts;
  /** The server's tools as functions, with the types of `connect<typeof server>`. A failure throws. */
  readonly tool: TypedTools<S>;

  readonly tools: (options?: CallOptions) => Listing<ListedTool>;
  readonly resources: (options?: CallOptions) => Listing<ListedResource>;
  readonly templates: (options?: CallOptions) => Listing<ListedTemplate>;
  readonly prompts: (options?: CallOptions) => Listing<ListedPrompt>;

  /** Calls a tool and waits for its result, also where it asks first or becomes a task. */
  readonly callTool: (name: string, args?: object, options?: ToolCallOptions) => Promise<CallResult>;
  /** Calls a tool and gives what it became: a task under way, or one that is done where the server made none. */
  readonly startTool: (name: string, args?: object, options?: ToolCallOptions) => Promise<TaskHandle>;
  /** A task of an earlier call, also of an earlier run of this program. */
  readonly task: (id: string) => TaskHandle;
  readonly readResource: (uri: string, options?: CallOptions) => Promise<ReadResult>;
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ) => Promise<PromptResult>;
  readonly complete: (what: CompletionRequest, options?: CallOptions) => Promise<Completion>;

  /** Hears of changes until it is closed, also after a reconnect. A text is a resource's URI. */
  readonly subscribe: (what: string | Interests, options?: SubscribeOptions) => Promise<Subscription>;

  /** Sends any request. What the protocol does not define is for servers with methods of their own. */
  readonly request: (method: string, params?: JsonObject, options?: CallOptions) => Promise<Outcome>;
  /** Asks the server for a sign of life; gives the milliseconds it took. */
  readonly ping: (options?: CallOptions) => Promise<number>;
  /** From which level on log messages are wanted in the calls to come; `undefined` wants none. */
  readonly setLogLevel: (level: LogLevel | undefined) => void;
  /** Tells a server of the session era that the roots have changed; others ask when they need them. */
  readonly rootsChanged: () => Promise<void>;
  /** The calls that are open. */
  readonly pending: () => readonly PendingCall[];
  /** Everything there is to know of the connection, as JSON: for logs and for finding faults. */
  readonly info: () => ClientInfo;
  /** Calls `listener` when it happens; the function that is returned ends that. What a listener throws becomes a `problem`. */
  readonly on: <E extends keyof ClientEvents>(
    event: E,
    listener: (value: ClientEvents[E]) => void,
  ) => () => void;
  /** Ends everything: open calls fail with `connection_closed`. Resolves when nothing is left. */
  readonly close: () => Promise<void>;
}

export type Status = 'ready' | 'reconnecting' | 'closed';

export interface ClientEvents {
  readonly status: { readonly status: Status; readonly reason?: McpError };
  readonly log: LogMessage;
  /** Something odd that was put up with: a junk line, a tool that was left out, a listener that threw. */
  readonly problem: { readonly message: string; readonly cause?: unknown };
  /** A notification of the server's that belongs to no call. */
  readonly notification: { readonly method: string; readonly params: JsonObject | undefined };
}

export interface ServerFacts {
  /** Undefined where the server does not say. */
  readonly info: Implementation | undefined;
  readonly capabilities: Readonly<ServerCapabilities>;
  readonly instructions: string | undefined;
  readonly revision: Revision;
}

export interface ClientInfo {
  readonly status: Status;
  readonly transport: TransportName;
  readonly target: string;
  readonly revision: Revision;
  readonly server: ServerFacts;
  readonly pending: number;
  readonly reconnects: number;
  /** The latest oddities that were put up with. */
  readonly problems: readonly string[];
}

export interface PendingCall {
  readonly method: string;
  /** The tool, resource or prompt. */
  readonly name: string | undefined;
  readonly sinceMs: number;
  readonly lastProgress: number | undefined;
}

/** A list that is fetched page by page as it is walked. */
export interface Listing<T> extends AsyncIterable<T> {
  readonly all: () => Promise<readonly T[]>;
}

export interface ToolCallOptions extends CallOptions {
  /** Lets the call be repeated safely where the server keeps idempotency keys. */
  readonly idempotencyKey?: string;
}

/** What a tool answered. A tool's own failure is a result: `unwrap` throws it. */
export interface CallResult {
  readonly content: readonly ContentBlock[];
  /** All texts together, a line each. */
  readonly text: string;
  /** The structured content, checked against the tool's output schema where the tool was listed with one. */
  readonly data: unknown;
  readonly isError: boolean;
  readonly meta: JsonObject | undefined;
  /** The data, or the text where there is none; throws `tool_failed` where the tool failed. */
  readonly unwrap: () => unknown;
}

export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  /** All texts together. */
  readonly text: string;
  readonly meta: JsonObject | undefined;
}

export interface PromptResult {
  readonly description: string | undefined;
  readonly messages: readonly PromptMessage[];
  readonly meta: JsonObject | undefined;
}

export type CompletionRequest = (
  | { readonly prompt: string; readonly template?: never }
  | { readonly template: string; readonly prompt?: never }
) & {
  readonly argument: string;
  readonly value: string;
  /** The arguments that are filled in already. */
  readonly filled?: Readonly<Record<string, string>>;
};

export interface Completion {
  readonly values: readonly string[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
}

/** What to hear of. */
export interface Interests {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** The contents of these resources. */
  readonly uris?: readonly string[];
  readonly tasks?: readonly string[];
}

export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'task'; readonly id: string; readonly state: TaskState };

export interface SubscribeOptions {
  readonly onChange?: (change: Change) => void;
  readonly signal?: AbortSignal;
}

/** Changes as they come. Two changes of one thing that nobody has looked at yet are one. */
export interface Subscription extends AsyncIterable<Change>, AsyncDisposable {
  /** What the server agreed to tell. */
  readonly accepted: Interests;
  readonly close: () => Promise<void>;
}

export interface TaskState {
  readonly id: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage: string | undefined;
  /** How far the task is, where the server says so in numbers. */
  readonly progress: Progress | undefined;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number | null | undefined;
  readonly pollIntervalMs: number | undefined;
  /** The questions that are open, by key. */
  readonly questions: Readonly<Record<string, JsonObject>>;
}

/** A task: its state now, its answers, its result. */
export interface TaskHandle {
  /** Keep it to come back to the task later; undefined where the server made none and the result is there already. */
  readonly id: string | undefined;
  readonly status: (options?: CallOptions) => Promise<TaskState>;
  /** Waits for the result and answers questions on the way with the client's handlers. */
  readonly result: (options?: CallOptions) => Promise<CallResult>;
  /** Answers questions by hand, by key. */
  readonly answer: (answers: Readonly<Record<string, JsonObject>>, options?: CallOptions) => Promise<void>;
  readonly cancel: (options?: CallOptions) => Promise<void>;
}
