// The options of a server.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Dispatch, HttpFacts, Middleware } from '../../protocol/call.js';
import type { Authenticate } from '../../protocol/caller.js';
import type { CodeOptions } from '../../protocol/code/code-options.js';
import type { Icon } from '../../protocol/model/content.js';
import type { Implementation } from '../../protocol/model/model.js';
import type { SearchOptions } from '../../protocol/model/search/options.js';
import type { Infer, RawShape } from '../../schema/schema.js';
import type { AuthProvider, AuthRequest } from '../../state/auth-provider.js';
import type { Bus } from '../../state/bus.js';
import type { Cluster } from '../../state/cluster.js';
import type { Store } from '../../state/store.js';
import type { ClientFacts, Context } from '../context/context.js';
import type { OnError } from '../results/map-error.js';
import type { CompatibilityOptions } from '../state/behaviours.js';
import type { Announcement } from '../state/changes.js';
import type { DeprecationMode } from '../state/deprecations.js';
import type { IdempotencyOptions } from '../state/idempotency-options.js';
import type { Lifespan } from '../state/lifespan.js';
import type { Logger } from '../state/log.js';
import type { AccessOptions } from './access.js';
import type { NotInferred } from './definition.js';
import type { EventType } from './event.js';
import type { EventRetention } from './event-retention.js';
import type { ServerExtension } from './extension.js';
import type { FallbacksOptions } from './fallback-options.js';
import type {
  AllInferred,
  AllSources,
  FittingPrompts,
  FittingResources,
  FittingTools,
  ResourceSlot,
  SourceType,
} from './fitting.js';
import type { Prompt } from './prompt.js';
import type { TasksOptions } from './task-options.js';
import type { VariablesOf } from './template-values.js';
import type { NotASchema } from './tool-handler.js';
import type { WebhookOptions } from './webhook-options.js';

/** A server that can be mounted in another one. */
export interface Mountable {
  /** The name, version and description of the server. */
  readonly info: Implementation;
  /** Answers one call. */
  readonly dispatch: Dispatch;
}

/** The tools, or the types of events, of a server with those of the servers that are mounted in it, under their names there. */
export type WithMounted<T, Mounted, Kind extends 'tools' | 'events' = 'tools'> = [keyof Mounted] extends [
  never,
]
  ? T
  : T &
      Intersection<
        { [Prefix in keyof Mounted]: MountedOf<Mounted[Prefix], Prefix & string, Kind> }[keyof Mounted]
      >;

type MountedOf<Server, Prefix extends string, Kind extends string> = Server extends {
  readonly [Key in `~${Kind}`]?: infer T;
}
  ? { readonly [Name in keyof T as Prefix extends '' ? Name : `${Prefix}_${Name & string}`]: T[Name] }
  : unknown;

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** The options of a server, without `lifespan` and `user`, which `defineWith` takes. */
export interface ServerDefinition<
  State,
  User,
  T = object,
  R = Readonly<Record<string, unknown>>,
  P = Readonly<Record<string, Prompt<never, State, User>>>,
  M = Readonly<Record<string, unknown>>,
  Inferred = true,
  E = Readonly<Record<string, EventType<never>>>,
> {
  /** The server's name, for programs. */
  readonly name: string;
  /** The server's version. */
  readonly version: string;
  /** The server's name, for display. Default: `name`. */
  readonly title?: string;
  /** The purpose of the server. */
  readonly description?: string;
  /** The address of a page about the server. */
  readonly websiteUrl?: string;
  /** Icons that clients may show, each an `https:` or `data:` URI. */
  readonly icons?: readonly Icon[];
  /** Instructions for the model on how to use this server. */
  readonly instructions?: string;

  /** The tools by name. Make each with `tool({ … })`. */
  readonly tools?: T & FittingTools<T, State, User, Inferred>;
  /** The resources by URI; a URI with braces is a template. Make each with `resource({ … })`. */
  readonly resources?: FittingResources<NotInferred<R>, State, User, Inferred> & {
    readonly [Uri in keyof R]: ResourceSlot<State, User, VariablesOf<Uri & string>, R[Uri], Inferred>;
  };
  /** The prompts by name. Make each with `prompt({ … })`. */
  readonly prompts?: P & FittingPrompts<P, State, User, Inferred>;
  /** The types of events that clients can subscribe to, by name. Make each with `event({ … })`. `server.emit` emits them. */
  readonly events?: E & Readonly<Record<string, EventType<never>>>;
  /**
   * Other servers whose definitions this one serves, by prefix: the tool `forecast` of `{ weather: server }` is `weather_forecast`, the
   * resource `log://today` is `weather+log://today`. An empty prefix changes nothing. They keep their middleware, rules and lifespan.
   */
  readonly mount?: Readonly<Record<string, Mountable>>;
  /**
   * Lists two tools in place of all others: `search_tools`, which finds tools by a question, and `call_tool`, which calls one. For servers
   * whose list would fill the context of a model. Default: every tool is listed.
   */
  readonly search?: boolean | SearchOptions;
  /**
   * Lets models write programs that call the tools: lists `run_code` and `search_tools` in place of all others. With `search: false`, every
   * tool is listed beside `run_code`. Default: no programs.
   */
  readonly code?: CodeOptions;
  /** Custom methods, in addition to those of the protocol, by name. A name needs a prefix, such as `acme/search`. */
  readonly methods?: { readonly [Name in keyof M]: Method<State, User, M[Name]> };

  /**
   * The rules for all definitions and for those with a tag: which callers see and use them. Local callers (stdio, in-process) without
   * `auth` are trusted. Default: only the rules of the definitions themselves.
   */
  readonly access?: AccessOptions;
  /** Middleware around every call, the first outermost. */
  readonly use?: readonly Middleware[];
  /**
   * Called with every error of a handler, of middleware or of `user` that is neither a `ToolError` nor an `McpError`. Return or
   * throw one of those two to send it to the client; otherwise the error is masked and logged.
   */
  readonly onError?: OnError;
  /**
   * The kinds of changes that this server announces; `true` means all of them. Clients keep a stream open for them. Default:
   * none, until the server first announces a change.
   */
  readonly changes?: true | readonly Announcement['kind'][];
  /**
   * The engine that all processes of this server share, so that each of them can serve every request: `postgres({ url })`,
   * `redis({ url })` or `nats({ url })`. The server closes it when the server closes. Default: `MCP_CLUSTER_URL` with `serve`;
   * otherwise there is only this process.
   */
  readonly cluster?: Cluster;
  /** Carries changes between processes. Implies `changes: true`. Default: the bus of `cluster`. */
  readonly bus?: Bus;

  /**
   * Identifies the callers of every HTTP transport that has no `auth` of its own: a provider of `fullmcp/auth`, or a function of the
   * request's head. The caller is in `ctx.auth`. Ignored on stdio and in-process. Default: callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<AuthRequest> | undefined;
  /**
   * Encrypts the state that passes through clients while they answer questions: at least 32 characters, the same in every
   * process. In an array, the first secret encrypts and all of them decrypt. Default: `MCP_SECRET` (several with commas
   * between them), if the server runs with `serve` or `serveStdio`; otherwise a random secret of this process.
   */
  readonly secret?: string | readonly string[];
  /** Limits for the questions that handlers ask. */
  readonly asking?: AskingOptions;
  /** The events that are kept for subscribers that were away. Give all processes of the server the same. */
  readonly eventRetention?: EventRetention;
  /**
   * Lets callers subscribe webhooks to the `events` of the server: `{}` for those on public addresses that want them. The subscriptions are
   * in the store. Default: no webhooks.
   */
  readonly webhooks?: WebhookOptions;
  /** Limits for the calls that run as tasks. */
  readonly tasks?: TasksOptions;
  /**
   * Help for clients that have no tasks or cannot ask their users, or that declare what they do not do: long calls end
   * early and continue, and questions reach the user by the model or a page. Default: such calls wait, or are rejected.
   */
  readonly fallbacks?: FallbacksOptions;
  /**
   * Keeps tasks, and the outcomes of calls that have an idempotency key. The server closes it when the server closes. Default:
   * the store of `cluster`, or else a store in memory, which is lost when the process ends.
   */
  readonly store?: Store;
  /**
   * Whether a call that is repeated with the same `_meta["fullmcp/idempotencyKey"]` gets the outcome of the first call, for
   * tools without their own `idempotency`. Default: false.
   */
  readonly idempotency?: boolean | IdempotencyOptions;

  /** The number of items per page of a list. Default: 500. */
  readonly pageSize?: number;
  /** The time for which clients may cache lists, in milliseconds. Default: 60 s. */
  readonly listTtlMs?: number;
  /** The time limit of a tool call, for tools without their own `timeoutMs` that do not run as tasks. Default: no limit. */
  readonly timeoutMs?: number;
  /**
   * The day whose defaults the server keeps when fullmcp is upgraded, such as `2026-11-16`, or an object that also switches single
   * changes on or off by their names. Default: the defaults of the installed version.
   */
  readonly compatibility?: string | CompatibilityOptions;
  /**
   * The reaction to a handler that uses what the protocol has deprecated: `warn` writes to the log, once for each part, `error` lets
   * the handler fail, `ignore` does nothing. Default: `warn`.
   */
  readonly deprecations?: DeprecationMode;
  /**
   * Serves drafts of the protocol, which may change in any version: the tags of definitions, so that callers that know an older list are
   * served by the versions of tools that they know, or told to list again. Default: false.
   */
  readonly drafts?: boolean;
  /** Receives errors and warnings, for the operator. Default: writes to standard error. */
  readonly logger?: Logger;

  /** Experimental capabilities to advertise, with their settings. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /**
   * Extensions of the protocol that this server has: an array of those that `extension` of `fullmcp/extension` and others make, as in
   * `[await skills('./skills')]`, or an object that only declares them, with their settings by identifier.
   */
  readonly extensions?: readonly ServerExtension[] | Readonly<Record<string, JsonObject>>;
}

/** The options of `createServer`. */
export interface ServerOptions<
  State = unknown,
  User = unknown,
  T = object,
  R = Readonly<Record<string, unknown>>,
  P = Readonly<Record<string, Prompt<never, State, User>>>,
  M = Readonly<Record<string, unknown>>,
  Sources = AllSources,
  E = Readonly<Record<string, EventType<never>>>,
> extends ServerDefinition<
      SourceType<'lifespan', State, Sources>,
      SourceType<'user', User, Sources>,
      T,
      R,
      P,
      M,
      AllInferred<SourceType<'lifespan', State, Sources>, SourceType<'user', User, Sources>>,
      E
    >,
    ServerSetup<State, User> {}

/** The options of any server, without the types of its definitions. */
export type AnyServerOptions = Omit<
  ServerDefinition<never, never>,
  'tools' | 'resources' | 'prompts' | 'methods'
> & {
  readonly lifespan?: Lifespan<unknown>;
  readonly user?: unknown;
};

/** The sources of `ctx.state` and `ctx.user`. */
export interface ServerSetup<State, User> {
  /**
   * Opens the resources that the server needs, yields them as `ctx.state`, and closes them when the server closes. It runs
   * once, with the first call or with `server.start()`. Default: `ctx.state` is undefined.
   */
  readonly lifespan?: Lifespan<State>;
  /** Makes `ctx.user` for each call. Default: `ctx.user` is undefined. */
  readonly user?: (facts: CallerFacts<State>) => User | Promise<User>;
}

/** The limits for the questions that handlers ask. */
export interface AskingOptions {
  /** The time that a client may take to answer; a later answer is rejected. Default: 1 hour. */
  readonly maxAgeMs?: number;
  /** The largest size of all answers and step results of one call together, in bytes of JSON. Default: 65,536. */
  readonly maxBytes?: number;
  /**
   * Whether the state of a round is rejected when a client sends it a second time. Used states are recorded in `store`.
   * Default: false.
   */
  readonly once?: boolean;
}

/** The argument of `user`. */
export interface CallerFacts<State> {
  /** The authenticated caller; undefined if the transport has no `auth` or `auth` did not identify the caller. */
  readonly auth: Auth | undefined;
  /** The value that `lifespan` yielded. */
  readonly state: State;
  /** The client as it describes itself: name, revision and capabilities. */
  readonly client: ClientFacts;
  /** The headers and the address of the HTTP request that carried the call; undefined over stdio. */
  readonly request: HttpFacts | undefined;
  /** Aborts when the call is cancelled or its client disconnects. */
  readonly signal: AbortSignal;
}

/** A custom method. */
export interface Method<State = unknown, User = unknown, Params = unknown> {
  /** The params, as a schema of an object. Default: any object, unchecked. */
  readonly params?: Params;
  /** The handler. It returns the result, which is an object. */
  readonly run: (params: MethodParams<Params>, ctx: Context<State, User>) => object | Promise<object>;
}

/** The type of a method's params: the type that its schema gives, or any object if it has no schema. */
export type MethodParams<Params> = unknown extends Params
  ? Readonly<JsonObject>
  : Params extends RawShape
    ? NotASchema<Params, Infer<Params>>
    : Infer<Params>;
