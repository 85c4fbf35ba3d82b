import type { JsonObject } from '../jsonrpc/message.js';
import type { Annotations, ContentBlock, Icon } from '../protocol/content.js';
import type { CacheScope, PromptMessage } from '../protocol/model.js';
import type { Infer, RawShape, Schema, SchemaLike, Sent } from '../schema/schema.js';
import type { Context } from './context.js';
import type { IdempotencyOptions } from './idempotency.js';
import type { TaskOptions } from './task-host.js';
import type { TemplateValues } from './template-values.js';
import type { Awaitable, Literals, NotASchema, ToolHandler, ToolModule, ToolValue } from './tool-handler.js';

// What a user writes. A definition is data; `createServer` compiles it once.

/** What every definition may say of itself. */
export interface Described {
  /** The name that people see. Default: the definition's name. */
  readonly title?: string;
  /** What it is and when to use it. The model reads this. */
  readonly description?: string;
  /** Icons that clients may show, each an `https:` or `data:` URI. */
  readonly icons?: readonly Icon[];
  /** Names to choose definitions by; clients find them in `_meta["fullmcp/tags"]`. */
  readonly tags?: readonly string[];
  /** Sent as `_meta` with the definition. */
  readonly meta?: JsonObject;
}

/** How a tool behaves. Clients use it to decide when to ask the user first; they must not rely on it. */
export interface ToolBehaviour {
  /** The tool changes nothing. Default, for clients: false. */
  readonly readOnly?: boolean;
  /** The tool may delete or overwrite something. Default, for clients: true. */
  readonly destructive?: boolean;
  /** Calling the tool again with the same arguments changes nothing more. Default, for clients: false. */
  readonly idempotent?: boolean;
  /** The tool reaches things outside of a closed world, such as the web. Default, for clients: true. */
  readonly openWorld?: boolean;
}

/** A tool's result in full. A handler returns one to say more than a value says. */
export interface ToolResult {
  /** The blocks that the model reads. */
  readonly content: readonly ContentBlock[];
  /** The value that programs read. It must fit the tool's `output`. */
  readonly structuredContent?: unknown;
  /** Whether the call failed in a way that the model should read about. Default: false. */
  readonly isError?: boolean;
  /** Sent as `_meta` with the result. */
  readonly _meta?: JsonObject;
}

/** What describes a tool, without its handler. */
export interface ToolOptions<In = undefined, Out = undefined> extends Described {
  /** The arguments, as a schema of an object. Default: none are accepted. */
  readonly input?: In;
  /** The result, as a schema. What the handler returns is checked against it and sent as structured content. */
  readonly output?: Out;
  /** How the tool behaves, for clients that ask the user before some calls. */
  readonly annotations?: ToolBehaviour;
  /** Ends the call with an error after this time; the handler sees `ctx.signal` abort. Default: the server's `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Whether the tool runs as a task, which the client polls, for clients that know tasks. Default: it does not. */
  readonly task?: TaskOptions['support'] | TaskOptions;
  /**
   * Whether a call that is sent again with the same `_meta["fullmcp/idempotencyKey"]` gets the outcome of the first instead of
   * running again. Default: the server's `idempotency`.
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

/**
 * Defines a tool: something that the model can do. The handler's input is typed by `input`, and what it returns is checked
 * against `output`.
 *
 * @example
 * const add = tool({
 *   description: 'Adds two numbers',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b,
 * });
 */
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

/** Suggests values for one variable or argument. */
export type Completer<State = unknown, User = unknown> = (
  /** The part that the user has typed so far. */
  prefix: string,
  /** The variables or arguments that are already filled in. */
  filled: Readonly<Record<string, string>>,
  ctx: Context<State, User>,
) => Awaitable<readonly string[] | { readonly values: readonly string[]; readonly total?: number }>;

/** Completers by the name of the variable or argument that they complete. */
export type Completers<Values, State, User> = {
  readonly [Name in keyof Given<Values> & string]?: Completer<State, User>;
};

/** One of the resources that a template lists. */
export interface ResourceEntry extends Described {
  /** The resource's URI. */
  readonly uri: string;
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The type of the contents. Default: that of the template. */
  readonly mimeType?: string;
  /** Who the contents are for, how important they are and when they changed. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
}

/** What describes a resource or a template, without the function that reads it. */
export interface ResourceOptions<State = unknown, User = unknown, Values = TemplateValues> extends Described {
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The type of the contents, such as `application/json`. Default: what the returned value suggests. */
  readonly mimeType?: string;
  /** Who the contents are for, how important they are and when they changed. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
  /** How long clients may keep the contents, in milliseconds. Default: 0. */
  readonly ttlMs?: number;
  /** Whether a cache may give the contents to other users (`public`). Default: `private`. */
  readonly cacheScope?: CacheScope;
  /**
   * Lists the resources that a template has, for `resources/list`: URIs, or entries with a name and more. It runs for each
   * request, so that it may differ from caller to caller.
   */
  readonly list?: (ctx: Context<State, User>) => Awaitable<readonly (string | ResourceEntry)[]>;
  /** Completions for the variables of a template. */
  readonly complete?: Completers<Values, State, User>;
}

/** A defined resource or template. `Values` are the variables that its reader needs from the URI. */
export interface Resource<State = unknown, User = unknown, Values = TemplateValues> {
  readonly kind: 'resource';
  readonly options: ResourceOptions<State, User>;
  readonly read: ResourceReader<Values, State, User>;
  /** Types only: what the reader needs of a server. */
  readonly '~needs'?: (state: State, user: User) => void;
}

/** The place of a resource in a server's options: its key gives `Values`, and `Found` is what the resource needs. */
export interface ResourceSlot<State, User, Values, Found> {
  readonly kind: 'resource';
  readonly options: ResourceOptions<State, User>;
  readonly read: ResourceReader<Values, State, User>;
  readonly '~needs'?: Found;
}

/**
 * Returns text, bytes, any JSON value, ready contents, or an array of those, or a promise of it. `undefined` means that there
 * is no such resource.
 */
export type ResourceReader<Values, State, User> = (
  values: Values,
  ctx: ResourceContext<State, User>,
) => unknown;

/** The context of a resource's reader: that of every handler, and the URI that is read. */
export interface ResourceContext<State = unknown, User = unknown> extends Context<State, User> {
  /** The URI as the client sent it. */
  readonly uri: string;
}

/** A resource or template as it is written. */
export interface ResourceDefinition<State, User, Values> extends ResourceOptions<State, User, Values> {
  /** Reads the resource. `values` are the decoded variables of the template. */
  readonly read: ResourceReader<Values, State, User>;
}

/**
 * Defines a resource or, where its URI has braces, a template: something that the client can read. Inside `createServer` the
 * variables of the template are typed by the key; elsewhere write their type: `read: ({ id }: { id: string }) => …`.
 *
 * @example
 * createServer({
 *   name: 'users',
 *   version: '1.0.0',
 *   resources: { 'users://{id}': resource({ read: ({ id }) => ({ id, name: 'Ada' }) }) },
 * });
 */
export function resource<State = unknown, User = unknown, Values = TemplateValues>(
  definition: ResourceDefinition<State, User, Values>,
): Resource<State, User, Values> {
  const { read, ...options } = definition;
  return { kind: 'resource', options: options as ResourceOptions<State, User>, read };
}

/** What describes a prompt, without the function that makes its messages. */
export interface PromptOptions<Args = undefined, State = unknown, User = unknown> extends Described {
  /** The arguments, as a schema of an object with fields of strings. Default: none. */
  readonly args?: Args;
  /** Completions for the arguments. */
  readonly complete?: Completers<Infer<Args>, State, User>;
}

/** A string, a message, a content block, or an array of those; or a whole result with a description of its own. */
export type PromptReturn =
  | string
  | PromptMessage
  | ContentBlock
  | readonly (string | PromptMessage | ContentBlock)[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] };

/** The function that makes a prompt's messages. */
export type PromptHandler<Args, State, User> = Args extends RawShape
  ? NotASchema<Args, AnyPromptHandler<Args, State, User>>
  : AnyPromptHandler<Args, State, User>;

type AnyPromptHandler<Args, State, User> = (
  args: Infer<Args>,
  ctx: Context<State, User>,
) => Awaitable<PromptReturn>;

/** A defined prompt. */
export interface Prompt<Args = never, State = unknown, User = unknown> {
  readonly kind: 'prompt';
  readonly options: PromptOptions<Schema | undefined, State, User>;
  readonly run: (args: Args, ctx: Context<State, User>) => Awaitable<PromptReturn>;
}

/** A prompt as it is written. */
export interface PromptDefinition<Args, State, User> extends PromptOptions<Args, State, User> {
  /** Makes the messages. A string or a content block becomes a message of the user. */
  readonly run: PromptHandler<Args, State, User>;
}

/**
 * Defines a prompt: a message template that the user picks.
 *
 * @example
 * const review = prompt({
 *   description: 'Reviews code',
 *   args: z.object({ code: z.string() }),
 *   run: ({ code }) => `Please review this code:\n\n${code}`,
 * });
 */
export function prompt<Args extends SchemaLike | undefined = undefined, State = unknown, User = unknown>(
  definition: PromptDefinition<Args, State, User>,
): Prompt<Infer<Args>, State, User> {
  const { run, ...options } = definition;
  const defined: object = { kind: 'prompt', options, run };
  return defined as Prompt<Infer<Args>, State, User>;
}

/**
 * Keeps a type parameter from being inferred at this place. Unlike `NoInfer` it is gone once the type is known, so that no hover
 * shows it.
 */
export type Given<T> = [T][T extends unknown ? 0 : never];
