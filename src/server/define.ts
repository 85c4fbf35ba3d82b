import type { JsonObject } from '../jsonrpc/message.js';
import type { Annotations, ContentBlock, Icon } from '../protocol/content.js';
import type { CacheScope, PromptMessage } from '../protocol/model.js';
import type { Infer, Schema, SchemaLike, Sent } from '../schema/schema.js';
import type { Context } from './context.js';
import type { IdempotencyOptions } from './idempotency.js';
import type { TaskOptions } from './task-host.js';
import type { Awaitable, Literals, ToolHandler, ToolModule, ToolValue } from './tool-handler.js';

// What a user writes. A definition is data; `createServer` compiles it once.

export interface Described {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  /** Names to choose definitions by; clients find them in `_meta["fullmcp/tags"]`. */
  readonly tags?: readonly string[];
  /** Sent as `_meta` with the definition. */
  readonly meta?: JsonObject;
}

/** How a tool behaves. Clients use it to decide when to ask the user first. */
export interface ToolBehaviour {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}

export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

export interface ToolOptions<In = undefined, Out = undefined> extends Described {
  readonly input?: In;
  readonly output?: Out;
  readonly annotations?: ToolBehaviour;
  /** Ends the call with an error after this time; the handler sees `ctx.signal` abort. */
  readonly timeoutMs?: number;
  /** Whether the tool runs as a task, which the client polls, for clients that know tasks. */
  readonly task?: TaskOptions['support'] | TaskOptions;
  /**
   * Whether a call that is sent again with the same `_meta["fullmcp/idempotencyKey"]` gets the outcome of the first instead of
   * running again.
   */
  readonly idempotency?: boolean | IdempotencyOptions;
}

/**
 * A defined tool. `Signature` is the tool as a function, from the arguments that a client sends to the value that the client
 * gets; `State` and `User` are what its handler needs in `ctx.state` and `ctx.user`.
 */
export interface Tool<Signature = unknown, State = unknown, User = unknown> {
  readonly kind: 'tool';
  /** Types only: what a typed client reads. A function type, which the compiler resolves only when somebody looks at it. */
  readonly '~signature'?: Signature;
  readonly options: ToolOptions<Schema | undefined, Schema | undefined>;
  readonly run?: (input: never, ctx: Context<State, User>) => unknown;
  readonly load?: () => Promise<ToolModule<(input: never, ctx: Context<State, User>) => unknown>>;
}

/** A tool as it is written: what describes it, and `run` or, for code that loads on the first call, `load`. */
export interface ToolDefinition<In, Out, State, User, Returned> extends ToolOptions<In, Out> {
  /** Does the work. What it returns is the result. */
  readonly run?: ToolHandler<In, Out, State, User, Returned>;
  /** Imports the module that has the handler as `run` or as its default export. It is called once, with the first call. */
  readonly load?: () => Promise<ToolModule<ToolHandler<In, Out, State, User, Returned>>>;
}

/** Defines a tool: something the model can do. */
export function tool<
  In extends SchemaLike | undefined = undefined,
  Out extends SchemaLike | undefined = undefined,
  State = unknown,
  User = unknown,
  Returned = Literals,
>(
  definition: ToolDefinition<In, Out, State, User, Returned>,
): Tool<(args: Sent<In>) => ToolValue<Out, Returned>, State, User> {
  const { run, load, ...options } = definition;
  const defined: object = { kind: 'tool', options, ...(run && { run }), ...(load && { load }) };
  return defined as ReturnType<typeof tool<In, Out, State, User, Returned>>;
}

interface CacheHint {
  readonly ttlMs?: number;
  readonly cacheScope?: CacheScope;
}

/** Suggests values for one argument, given what the user has typed and the arguments already filled in. */
export type Completer<State = unknown, User = unknown> = (
  prefix: string,
  filled: Readonly<Record<string, string>>,
  ctx: Context<State, User>,
) => Awaitable<readonly string[] | { readonly values: readonly string[]; readonly total?: number }>;

/** One of the resources that a template lists. */
export interface ResourceEntry extends Described {
  readonly uri: string;
  /** Defaults to the URI. */
  readonly name?: string;
  /** Defaults to that of the template. */
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly size?: number;
}

export interface ResourceOptions<State = unknown, User = unknown> extends Described, CacheHint {
  /** Defaults to the URI. */
  readonly name?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly size?: number;
  /**
   * Lists the resources that a template has, for `resources/list`: URIs, or entries with a name and more. It runs for each
   * request, so that it may differ from caller to caller.
   */
  readonly list?: (ctx: Context<State, User>) => Awaitable<readonly (string | ResourceEntry)[]>;
  /** Completions for a template's variables. */
  readonly complete?: Readonly<Record<string, Completer<State, User>>>;
}

/** A template's variables, decoded. A list comes from an exploded variable. */
export type TemplateValues = Readonly<Record<string, string | readonly string[]>>;

/** The variables of a simple template, as types: `users://{id}` gives `{ id: string }`. */
export type VariablesOf<Uri extends string> = Uri extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in SimpleName<Name>]: string } & VariablesOf<Rest>
  : unknown;

type SimpleName<Name extends string> = Name extends `+${infer Bare}` | `#${infer Bare}` ? Bare : Name;

export interface Resource<State = unknown, User = unknown> {
  readonly kind: 'resource';
  readonly options: ResourceOptions<State, User>;
  readonly read: ResourceReader<never, State, User>;
}

/**
 * Returns text, bytes, any JSON value, ready contents, or a list of those, or a promise of it. `undefined` means that there
 * is no such resource.
 */
export type ResourceReader<Values, State, User> = (
  values: Values,
  ctx: Context<State, User> & { readonly uri: string },
) => unknown;

/** Defines a resource or, where its URI has braces, a template: something the client can read. */
export function resource<State = unknown, User = unknown>(
  definition: ResourceOptions<State, User> & {
    readonly read: ResourceReader<TemplateValues, State, User>;
  },
): Resource<State, User> {
  const { read, ...options } = definition;
  return { kind: 'resource', options, read };
}

export interface PromptOptions<Args = undefined, State = unknown, User = unknown> extends Described {
  readonly args?: Args;
  readonly complete?: Readonly<Record<string, Completer<State, User>>>;
}

/** A text, a message, a content block, or a list of those; or a full result with a description of its own. */
export type PromptReturn =
  | string
  | PromptMessage
  | ContentBlock
  | readonly (string | PromptMessage | ContentBlock)[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] };

export type PromptHandler<Args, State, User> = (
  args: Infer<Args>,
  ctx: Context<State, User>,
) => Awaitable<PromptReturn>;

export interface Prompt<Args = never, State = unknown, User = unknown> {
  readonly kind: 'prompt';
  readonly options: PromptOptions<Schema | undefined, State, User>;
  readonly run: (args: Args, ctx: Context<State, User>) => Awaitable<PromptReturn>;
}

/** Defines a prompt: a message template that the user picks. */
export function prompt<Args extends Schema | undefined = undefined, State = unknown, User = unknown>(
  definition: PromptOptions<Args, State, User> & { readonly run: PromptHandler<Args, State, User> },
): Prompt<Infer<Args>, State, User> {
  const { run, ...options } = definition;
  return { kind: 'prompt', options, run };
}
