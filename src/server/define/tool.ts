// The definition of a tool.

import type { Middleware } from '../../protocol/call.js';
import type { Infer, Schema, SchemaLike, Sent } from '../../schema/schema.js';
import type { Context } from '../context/context.js';
import type { IdempotencyOptions } from '../state/idempotency-options.js';
import type { AccessRule } from './access.js';
import type { Described } from './definition.js';
import type { TaskOptions } from './task-options.js';
import type { Literals, ToolHandler, ToolModule, ToolValue } from './tool-handler.js';

/** Hints about a tool's behaviour. Clients use the hints to decide when to ask the user first, but must not rely on them. */
export interface ToolAnnotations {
  /** The tool changes nothing. Default, for clients: false. */
  readonly readOnly?: boolean;
  /** The tool may delete or overwrite something. Default, for clients: true. */
  readonly destructive?: boolean;
  /** Calling the tool again with the same arguments changes nothing more. Default, for clients: false. */
  readonly idempotent?: boolean;
  /** The tool reaches things outside the server's own domain, such as the web. Default, for clients: true. */
  readonly openWorld?: boolean;
}

/** The option `annotations` of a tool, and of a rule about tools. */
export const annotationRow = {
  is: 'object',
  options: {
    readOnly: 'boolean',
    destructive: 'boolean',
    idempotent: 'boolean',
    openWorld: 'boolean',
  },
  foreign: {
    readOnlyHint: 'readOnly',
    destructiveHint: 'destructive',
    idempotentHint: 'idempotent',
    openWorldHint: 'openWorld',
  },
} as const;

/** The description of a tool, without its handler. */
export interface ToolOptions<In = undefined, Out = undefined, Handle = boolean>
  extends Described,
    AccessRule<Infer<In>> {
  /** The arguments, as a schema of an object. Default: none are accepted. */
  readonly input?: In;
  /** The result, as a schema. The handler's return value is validated by it and sent as structured content. */
  readonly output?: Out;
  /**
   * Whether clients get a handle and a summary in place of the value, for values that are too large for a model. Other tools of the server
   * take the handle as an argument in place of the value. Default: false.
   */
  readonly handle?: Handle;
  /** Hints about the tool's behaviour, for clients that ask the user before some calls. */
  readonly annotations?: ToolAnnotations;
  /** The time limit of a call. After it, `ctx.signal` aborts and the call ends with an error. Default: the server's `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Whether the tool runs as a task, which the client polls, for clients that support tasks. Default: it does not. */
  readonly task?: TaskOptions['support'] | TaskOptions;
  /**
   * Whether a call that is repeated with the same `_meta["fullmcp/idempotencyKey"]` gets the outcome of the first call instead
   * of running again. Default: the server's `idempotency`.
   */
  readonly idempotency?: boolean | IdempotencyOptions;
  /**
   * Middleware around the calls of this tool, the first outermost: those of clients and those of other handlers with `ctx.call`. It runs
   * after the rules of access. Default: none.
   */
  readonly use?: readonly Middleware[];
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

/** The argument of `tool()`: the description, and `run` or, for code that is loaded with the first call, `load`. */
export interface ToolDefinition<In, Out, State, User, Returned, Handle = boolean>
  extends ToolOptions<In, Out, Handle> {
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
  const Handle extends boolean = false,
>(
  definition: ToolDefinition<In, Out, State, User, Returned, Handle>,
): Tool<(args: Sent<In>) => ToolValue<Out, Returned, Handle>, State, User> {
  const { run, load, ...options } = definition;
  const result: object = { kind: 'tool', options, ...(run && { run }), ...(load && { load }) };
  return result as ReturnType<typeof tool<In, Out, State, User, Returned, Handle>>;
}
