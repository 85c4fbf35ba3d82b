import type { JsonObject } from '../jsonrpc/message.js';
import type { Auth, HttpFacts, Middleware } from '../protocol/call.js';
import type { Icon } from '../protocol/content.js';
import type { Infer, RawShape } from '../schema/schema.js';
import type { Bus, Change } from './bus.js';
import type { ClientFacts, Context } from './context.js';
import type { Given, Prompt, ResourceSlot, Tool } from './define.js';
import type { IdempotencyOptions } from './idempotency.js';
import type { Lifespan } from './lifespan.js';
import type { Log } from './log.js';
import type { OnError } from './map-error.js';
import type { Store } from './store.js';
import type { VariablesOf } from './template-values.js';
import type { NotASchema } from './tool-handler.js';

/**
 * What `tools`, `resources` or `prompts` must be beside what they were inferred as. They are looked at as a whole first, which
 * is cheap; only where something does not fit is each looked at, and a sentence put in the place of those that do not.
 */
type Fitting<All, Wanted, OfAnyServer> =
  All extends Readonly<Record<string, Wanted>>
    ? unknown
    : {
        readonly [Name in keyof All]: All[Name] extends Wanted
          ? unknown
          : All[Name] extends OfAnyServer
            ? 'This needs a ctx.state or ctx.user that the lifespan or context of this server does not give.'
            : 'This is not a definition of the right kind. Make one with tool({ … }), resource({ … }) or prompt({ … }).';
      };

/**
 * Requires `lifespan` and `context` where a definition needs what they give. It cannot be a part of `Fitting`: the compiler
 * looks at tools before it looks at a `context` with parameters, and until then cannot tell it from one that is missing.
 */
export type Needs<T, R, P> =
  [T, R, P] extends Accepting<never, never>
    ? ([T, R, P] extends Accepting<undefined, never> ? unknown : NeedsState) &
        ([T, R, P] extends Accepting<never, undefined> ? unknown : NeedsUser)
    : unknown;

type Accepting<State, User> = [
  Readonly<Record<string, Tool<unknown, State, User>>>,
  Readonly<Record<string, (state: State, user: User) => void>>,
  Readonly<Record<string, Prompt<never, State, User>>>,
];

/** A definition of this server reads `ctx.state`, so `lifespan` has to be given. */
export interface NeedsState {
  readonly lifespan: unknown;
}

/** A definition of this server reads `ctx.user`, so `context` has to be given. */
export interface NeedsUser {
  readonly context: unknown;
}

/** The type of `ctx.state` or `ctx.user` where nothing gives one. */
export type OrUndefined<T> = [T] extends [never] ? undefined : T;

/** What a server offers and how it behaves: the options of a server whose `lifespan` and `context` a kit has. */
export interface ServerDefinition<
  State,
  User,
  T = object,
  R = Readonly<Record<string, unknown>>,
  P = Readonly<Record<string, Prompt<never, State, User>>>,
  M = Readonly<Record<string, unknown>>,
> {
  /** The server's name, for programs. */
  readonly name: string;
  /** The server's version. */
  readonly version: string;
  /** The server's name, for people. Default: `name`. */
  readonly title?: string;
  /** What the server is for. */
  readonly description?: string;
  /** A page about the server. */
  readonly websiteUrl?: string;
  /** Icons that clients may show, each an `https:` or `data:` URI. */
  readonly icons?: readonly Icon[];
  /** Tells the model how to use this server. */
  readonly instructions?: string;

  /** The tools by name. Make each with `tool({ … })`. */
  readonly tools?: T & Fitting<T, Tool<unknown, State, User>, Tool<unknown, never, never>>;
  /** The resources by URI, or by URI template where it has braces. Make each with `resource({ … })`. */
  readonly resources?: {
    readonly [Uri in keyof R]: ResourceSlot<State, User, VariablesOf<Uri & string>, R[Uri]>;
  };
  /** The prompts by name. Make each with `prompt({ … })`. */
  readonly prompts?: P & Fitting<P, Prompt<never, State, User>, Prompt<never, never, never>>;
  /** Methods of your own beside the protocol's, by name. A name needs a prefix, such as `acme/search`. */
  readonly methods?: { readonly [Name in keyof M]: Method<State, User, M[Name]> };

  /** Wraps every call, the first of the list outermost. */
  readonly use?: readonly Middleware[];
  /**
   * Sees every error of a handler, of middleware and of `context` that is neither a `ToolError` nor an `McpError`. Return or throw
   * one of those two, and the client gets it; otherwise the error is masked and logged.
   */
  readonly onError?: OnError;
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
  /** Limits of the questions that handlers ask. */
  readonly asking?: AskingOptions;
  /** Limits of the calls that run as tasks. */
  readonly tasks?: TasksOptions;
  /** Where tasks and outcomes are kept. Closed with the server. Default: in memory, so that they end with the process. */
  readonly store?: Store;
  /** Whether a call that is sent again gets the outcome of the first, for tools that do not say. Default: false. */
  readonly idempotency?: boolean | IdempotencyOptions;

  /** The number of items in a page of a list. Default: 500. */
  readonly pageSize?: number;
  /** How long clients may keep lists, in milliseconds. Default: 60 s. */
  readonly listTtlMs?: number;
  /** Ends a tool's call after this time, for tools that do not say and that are not tasks. Default: no limit. */
  readonly timeoutMs?: number;
  /** Receives errors and warnings. Default: the error console. */
  readonly log?: Log;

  /** Experimental capabilities to advertise, with their settings. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** Extensions that this server speaks, with their settings. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** What a server is built from. `createServer` takes it. */
export interface ServerOptions<
  State,
  User,
  T = object,
  R = Readonly<Record<string, unknown>>,
  P = Readonly<Record<string, Prompt<never, State, User>>>,
  M = Readonly<Record<string, unknown>>,
> extends ServerDefinition<Given<State>, Given<User>, T, R, P, M>,
    ServerContext<State, User> {}

/** The options of any server, for the code that does not look at their types. */
export type AnyServerOptions = Omit<
  ServerDefinition<never, never>,
  'tools' | 'resources' | 'prompts' | 'methods'
> & {
  readonly lifespan?: Lifespan<unknown>;
  readonly context?: unknown;
};

/** Where `ctx.state` and `ctx.user` come from. */
export interface ServerContext<State, User> {
  /**
   * Opens what the server needs, yields it as `ctx.state`, and closes it when the server closes. It runs once, with the first
   * call or with `server.start()`. Default: `ctx.state` is undefined.
   */
  readonly lifespan?: Lifespan<State>;
  /** Makes `ctx.user` for each call. Default: `ctx.user` is undefined. */
  readonly context?: (facts: CallFacts<State>) => User | Promise<User>;
}

/** What tasks may take, of time and of room. */
export interface TasksOptions {
  /** How long a task and its result are kept, for tools that do not say. Default: 1 hour. */
  readonly ttlMs?: number;
  /** How often clients should poll, for tools that do not say. Default: 1 s. */
  readonly pollIntervalMs?: number;
  /** The number of tasks that may be unfinished at the same time. Default: 10,000. */
  readonly maxTasks?: number;
  /** The number of tasks that one caller may have unfinished. Default: 1,000. Without authorization nobody is counted. */
  readonly maxTasksPerCaller?: number;
  /** Bytes that the tasks of one caller may have in the store, finished ones included. Default: 64 MB. */
  readonly maxBytesPerCaller?: number;
  /** Bytes that one task may have in the store: arguments, answers, results of steps, result. Default: 16 MB. */
  readonly maxTaskBytes?: number;
  /** Bytes that all answers to one task may have. Default: 1 MB. */
  readonly maxAnswerBytes?: number;
}

/** The limits of questions. */
export interface AskingOptions {
  /** How long a client may take to answer. Default: 1 hour. */
  readonly maxAgeMs?: number;
  /** The size that answers and step results of one call may have in all. Default: 64 KiB. */
  readonly maxBytes?: number;
  /** Makes every round usable once. What was used is remembered in `store`. Default: false. */
  readonly once?: boolean;
}

/** What `context` knows of a call. */
export interface CallFacts<State> {
  /** Who is calling, where the server checks that. */
  readonly auth: Auth | undefined;
  /** What `lifespan` yielded. */
  readonly state: State;
  /** What the client said of itself. */
  readonly client: ClientFacts;
  /** Headers and address of the HTTP request that carried the call. Undefined over other transports. */
  readonly request: HttpFacts | undefined;
  /** Aborts when the call is cancelled or its client goes away. */
  readonly signal: AbortSignal;
}

/** A method of your own. */
export interface Method<State = unknown, User = unknown, Params = unknown> {
  /** The params, as a schema of an object. Default: they are not checked. */
  readonly params?: Params;
  /** Answers the method. The result is an object. */
  readonly run: (params: MethodParams<Params>, ctx: Context<State, User>) => object | Promise<object>;
}

/** What a method is given: what its schema gives, or the params as they came. */
export type MethodParams<Params> = unknown extends Params
  ? Readonly<JsonObject>
  : Params extends RawShape
    ? NotASchema<Params, Infer<Params>>
    : Infer<Params>;
