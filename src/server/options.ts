import type { JsonObject } from '../jsonrpc/message.js';
import type { Auth, HttpFacts, Middleware } from '../protocol/call.js';
import type { Icon } from '../protocol/content.js';
import type { Schema } from '../schema/schema.js';
import type { Bus, Change } from './bus.js';
import type { ClientFacts, Context } from './context.js';
import type { Prompt, Resource, Tool } from './define.js';
import type { IdempotencyOptions } from './idempotency.js';
import type { Lifespan } from './lifespan.js';
import type { Log } from './log.js';
import type { OnError } from './map-error.js';
import type { Store } from './store.js';

/**
 * The server, or in its place the reason why the compiler should refuse to use it: a tool wants a state or a user that this
 * server does not have. It is in the result because a constraint on the options would keep the compiler from inferring what
 * `context` returns.
 */
export type Fitting<Server, T, State, User> = object extends T
  ? Server
  : T extends Readonly<Record<string, Tool<unknown, State, User>>>
    ? Server
    : {
        readonly problem: 'a tool needs a state or user that the lifespan or context of this server does not give';
      };

export interface ServerOptions<State, User, T extends object = object> {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
  /** Tells the model how to use this server. */
  readonly instructions?: string;

  readonly tools?: T;
  /** By URI, or by URI template where it has braces. */
  readonly resources?: Readonly<Record<string, Resource<State, User>>>;
  readonly prompts?: Readonly<Record<string, Prompt<never, State, User>>>;
  /** Methods of your own, beside the protocol's. */
  readonly methods?: Readonly<Record<string, Method<State, User>>>;

  /** Wraps every call, the first of the list outermost. */
  readonly use?: readonly Middleware[];
  readonly lifespan?: Lifespan<State>;
  /**
   * Sees every error of a handler, of middleware and of `context` that is neither a `ToolError` nor an `McpError`. Return or throw
   * one of those two, and the client gets it; otherwise the error is masked and logged.
   */
  readonly onError?: OnError;
  /** Makes `ctx.user` for each call. */
  readonly context?: (facts: CallFacts<State>) => User | Promise<User>;

  /**
   * The changes this server will announce. Clients hold a stream open for them, so nothing is promised by default; what is
   * changed all the same is announced from then on.
   */
  readonly changes?: true | readonly Change['kind'][];
  /** Carries changes between processes. Implies `changes: true`. */
  readonly bus?: Bus;

  /**
   * Seals what travels through clients while they answer questions: 32 characters or more, the same in every process. Of
   * several the first seals and all open. `MCP_SECRET` where nothing is given.
   */
  readonly secret?: string | readonly string[];
  readonly asking?: AskingOptions;
  readonly tasks?: TasksOptions;
  /** Where tasks and outcomes are kept. In memory unless given, and then they end with the process. Closed with the server. */
  readonly store?: Store;
  /** Whether a tool's call that is sent again gets the outcome of the first, where the tool itself says nothing. */
  readonly idempotency?: boolean | IdempotencyOptions;

  /** Items in a page of a list. */
  readonly pageSize?: number;
  /** How long clients may keep lists, in milliseconds. */
  readonly listTtlMs?: number;
  /** Ends any tool's call after this time, where the tool itself says nothing. */
  readonly timeoutMs?: number;
  /** Where errors and warnings go. The error console by default. */
  readonly log?: Log;

  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** Extensions that this server speaks, with their settings. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** What tasks may take, of time and of room. */
export interface TasksOptions {
  /** How long a task and its result are kept, where the tool says nothing. Default: 1 hour. */
  readonly ttlMs?: number;
  /** How often clients should poll, where the tool says nothing. Default: 1 s. */
  readonly pollIntervalMs?: number;
  /** Tasks that may be unfinished at the same time. Default: 10,000. */
  readonly maxTasks?: number;
  /** Tasks that one caller may have unfinished at the same time. Default: 1,000. Without authorization nobody is counted. */
  readonly maxTasksPerCaller?: number;
  /** Bytes that the tasks of one caller may have in the store, finished ones included. Default: 64 MB. */
  readonly maxBytesPerCaller?: number;
  /** Bytes that one task may have in the store: arguments, answers, results of steps, result. Default: 16 MB. */
  readonly maxTaskBytes?: number;
  /** Bytes that all answers to one task may have. Default: 1 MB. */
  readonly maxAnswerBytes?: number;
}

export interface AskingOptions {
  /** How long a client may take to answer. */
  readonly maxAgeMs?: number;
  /** How much answers and step results may have in all. */
  readonly maxBytes?: number;
  /** Makes every round usable once. What was used is remembered in `store`. */
  readonly once?: boolean;
}

export interface CallFacts<State> {
  readonly auth: Auth | undefined;
  readonly state: State;
  readonly client: ClientFacts;
  readonly request: HttpFacts | undefined;
  readonly signal: AbortSignal;
}

export interface Method<State = unknown, User = unknown> {
  readonly params?: Schema;
  readonly run: (params: JsonObject, ctx: Context<State, User>) => object | Promise<object>;
}
