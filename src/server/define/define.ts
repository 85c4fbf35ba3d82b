// The definitions that a program writes. A definition is data; `createServer` compiles it once.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Annotations, ContentBlock, Icon } from '../../protocol/model/content.js';
import type { CacheScope, PromptMessage } from '../../protocol/model/model.js';
import type { Infer, RawShape, Schema, SchemaLike, Sent } from '../../schema/schema.js';
import type { Context } from '../context/context.js';
import type { IdempotencyOptions } from '../state/idempotency.js';
import type { TaskOptions } from './task-options.js';
import type { TemplateValues } from './template-values.js';
import type { Awaitable, Literals, NotASchema, ToolHandler, ToolModule, ToolValue } from './tool-handler.js';

/** The fields that every definition may have. */
export interface Described {
  /** The name that people see. Default: the definition's name. */
  readonly title?: string;
  /** The purpose of the definition and when to use it. The model reads this. */
  readonly description?: string;
  /** Icons that clients may show, each an `https:` or `data:` URI. */
  readonly icons?: readonly Icon[];
  /** Names to choose definitions by; clients find them in `_meta["fullmcp/tags"]`. */
  readonly tags?: readonly string[];
  /** The `_meta` of the definition. */
  readonly meta?: JsonObject;
}

/** Hints about a tool's behaviour. Clients use them to decide when to ask the user first; they must not rely on them. */
export interface ToolAnnotations {
  /** The tool changes nothing. Default, for clients: false. */
  readonly readOnly?: boolean;
  /** The tool may delete or overwrite something. Default, for clients: true. */
  readonly destructive?: boolean;
  /** Calling the tool again with the same arguments changes nothing more. Default, for clients: false. */
  readonly idempotent?: boolean;
  /** The tool reaches things outside of a closed world, such as the web. Default, for clients: true. */
  readonly openWorld?: boolean;
}

/** The description of a tool, without its handler. */
export interface ToolOptions<In = undefined, Out = undefined> extends Described {
  /** The arguments, as a schema of an object. Default: none are accepted. */
  readonly input?: In;
  /** The result, as a schema. The handler's return value is validated by it and sent as structured content. */
  readonly output?: Out;
  /** Hints about the tool's behaviour, for clients that ask the user before some calls. */
  readonly annotations?: ToolAnnotations;
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
  /** The kind of the definition: `tool`. */
  readonly kind: 'tool';
  /** For types only: the signature that a typed client reads. A function type, which the compiler resolves only on demand. */
  readonly '~signature'?: Signature;
  /** The description of the tool. */
  readonly options: ToolOptions<Schema | undefined, Schema | undefined>;
  /** The handler, unless the tool has `load`. */
  readonly run?: (input: never, ctx: Context<State, User>) => unknown;
  /** The import of the handler's module, unless the tool has `run`. */
  readonly load?: () => Promise<ToolModule<(input: never, ctx: Context<State, User>) => unknown>>;
}

/** The argument of `tool()`: the description, and `run` or, for code that loads with the first call, `load`. */
export interface ToolDefinition<In, Out, State, User, Returned> extends ToolOptions<In, Out> {
  /** The handler. The returned value is the result. */
  readonly run?: ToolHandler<In, Out, State, User, Returned>;
  /** Imports the module that has the handler as `run` or as its default export. Called once, with the first call. */
  readonly load?: () => Promise<ToolModule<ToolHandler<In, Out, State, User, Returned>>>;
}

/**
 * Defines a tool: something that the model can do. `input` types the handler's argument and validates it; `output` does the same
 * for the value that the handler returns.
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
  const built: object = { kind: 'tool', options, ...(run && { run }), ...(load && { load }) };
  return built as ReturnType<typeof tool<In, Out, State, User, Returned>>;
}

/** Suggests values for one variable or argument. */
export type Completer<State = unknown, User = unknown> = (
  /** The part that the user has typed so far. */
  prefix: string,
  /** The variables or arguments that are already filled in. */
  filled: Readonly<Record<string, string>>,
  ctx: Context<State, User>,
) => Awaitable<
  | readonly string[]
  | {
      /** The suggestions. The first 100 are sent. */
      readonly values: readonly string[];
      /** The number of all suggestions. Default: the length of `values`. */
      readonly total?: number;
    }
>;

/** Completers by the name of the variable or argument that they complete. */
export type Completers<Values, State, User> = {
  readonly [Name in keyof NotInferred<Values> & string]?: Completer<State, User>;
};

/** One of the resources that a template lists. */
export interface ResourceEntry extends Described {
  /** The resource's URI. */
  readonly uri: string;
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The MIME type of the contents. Default: that of the template. */
  readonly mimeType?: string;
  /** Hints about the audience and the importance of the contents. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
}

/** The description of a resource or template, without its reader. */
export interface ResourceOptions<State = unknown, User = unknown, Values = TemplateValues> extends Described {
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The MIME type of the contents, such as `application/json`. Default: inferred from the returned value. */
  readonly mimeType?: string;
  /** Hints about the audience and the importance of the contents. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
  /** The time for which clients may cache the contents, in milliseconds. Default: 0. */
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
  /** The kind of the definition: `resource`. */
  readonly kind: 'resource';
  /** The description of the resource. */
  readonly options: ResourceOptions<State, User>;
  /** The function that reads the resource. */
  readonly read: ResourceReader<Values, State, User>;
  /** For types only: the state and the user that the reader needs. */
  readonly '~needs'?: (state: State, user: User) => void;
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

/** The argument of `resource()`: the description and the reader. */
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

/** The description of a prompt, without its handler. */
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
  | {
      /** A description of this result. Default: the prompt's. */
      readonly description?: string;
      /** The messages. */
      readonly messages: readonly PromptMessage[];
    };

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
  /** The kind of the definition: `prompt`. */
  readonly kind: 'prompt';
  /** The description of the prompt. */
  readonly options: PromptOptions<Schema | undefined, State, User>;
  /** The function that makes the messages. */
  readonly run: (args: Args, ctx: Context<State, User>) => Awaitable<PromptReturn>;
}

/** The argument of `prompt()`: the description and the handler. */
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
  const built: object = { kind: 'prompt', options, run };
  return built as Prompt<Infer<Args>, State, User>;
}

/**
 * Keeps a type parameter from being inferred from this position. Unlike `NoInfer`, it disappears once the type is known, so that
 * no hover shows it.
 */
export type NotInferred<T> = [T][T extends unknown ? 0 : never];
