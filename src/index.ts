// The entry `fullmcp`: defines servers.

import { eventHostLater } from './extensions/events/host-later.js';
import type { EventLoaders } from './extensions/events/source-host.js';
import { fallbacksLater } from './extensions/fallbacks/later.js';
import { taskHostLater } from './extensions/tasks/host-later.js';
import type { Handler, RequestContext } from './http.js';
import { checkRuntime } from './protocol/checks/runtime.js';
import type { CoreServer } from './server/build/core-server.js';
import { createServer as createCore } from './server/create-server.js';
import type { AllSources, Certain, OrUndefined, Present } from './server/define/fitting.js';
import type { ServerDefinition, ServerOptions, ServerSetup, WithMounted } from './server/define/options.js';
import { type Definers, makeDefiners } from './server/define-with.js';

export type { JsonObject } from './jsonrpc/message.js';
export type { Auth, Call, Dispatch, HttpFacts, Middleware, Outcome, Peer, Via } from './protocol/call.js';
export type { Authenticate, AuthInit } from './protocol/caller.js';
export type { CodeEngine } from './protocol/code/code-engine.js';
export type { CodeOptions } from './protocol/code/code-options.js';
export { type CallSource, type Challenge, type ErrorCode, McpError } from './protocol/errors.js';
export { insufficientScope } from './protocol/insufficient-scope.js';
export {
  type Annotations,
  type AudioContent,
  assistant,
  audio,
  type ContentBlock,
  type EmbeddedResource,
  embed,
  type Icon,
  type ImageContent,
  image,
  type ResourceContents,
  type ResourceLink,
  resourceLink,
  type TextContent,
  text,
  user,
} from './protocol/model/content.js';
export type { ElicitUrlResult, InputRequest, Root, SamplingMessage } from './protocol/model/input.js';
export type { ClientCapabilities, Implementation, PromptMessage } from './protocol/model/model.js';
export type { SearchOptions } from './protocol/model/search/options.js';
export type {
  DiscoverableServer,
  Discovery,
  RegisteredService,
  RegisterOptions,
  ServiceInstance,
} from './protocol/services.js';
export type { LogLevel } from './protocol/tables/log-level.js';
export { type Revision, revisions } from './protocol/tables/revisions.js';
export type { ChangeEvent, TraceEvents } from './protocol/telemetry/events.js';
export type { HandlerLog, HandlerLogDetail } from './protocol/telemetry/handler-log.js';
export { SchemaError } from './schema/document/schema-error.js';
export {
  type Infer,
  jsonSchema,
  type NoInput,
  type Schema,
  type SchemaLike,
  type Sent,
  withJsonSchema,
} from './schema/schema.js';
export type { StandardJsonSchema, StandardSchema } from './schema/standard.js';
export { type InputRequired, inputRequired } from './server/asking/input-required.js';
export type {
  ElicitResult,
  FormQuestion,
  SampleOptions,
  SampleResult,
  UrlQuestion,
} from './server/asking/question.js';
export type { Step } from './server/asking/run.js';
export type { StepTransaction } from './server/asking/step-transaction.js';
export type { AddPrompt, AddResource, AddTool } from './server/catalog/adders.js';
export { DefinitionError } from './server/catalog/compile.js';
export type { Registration } from './server/catalog/registry.js';
export type { CallerState, CallerStates, StateWithId } from './server/context/caller-state.js';
export type { ClientFacts, Context, Elicit } from './server/context/context.js';
export { type ContextStore, type Stored, type StoredOptions, stored } from './server/context/stored.js';
export type { AccessOptions, AccessRule, Allow } from './server/define/access.js';
export type { Completer, Completers, Described } from './server/define/definition.js';
export type {
  ArgumentsCheck,
  CheckedDefinitionsOf,
  DefinitionsOf,
  DefinitionView,
  ServerDefinitions,
} from './server/define/definitions.js';
export {
  type ChangedResource,
  type EventDefinition,
  type EventType,
  event,
  type ResourceEventDefinition,
} from './server/define/event.js';
export type { EventRetention } from './server/define/event-retention.js';
export type { FallbacksOptions, FallbackTasks, HostOverride } from './server/define/fallback-options.js';
export type { NeedsState, NeedsUser, OrUndefined } from './server/define/fitting.js';
export type { PromptBuilder, ResourceBuilder, ToolBuilder } from './server/define/fluent.js';
export type {
  CallerFacts,
  Method,
  Mountable,
  ServerDefinition,
  ServerOptions,
  ServerSetup,
  WithMounted,
} from './server/define/options.js';
export {
  type Prompt,
  type PromptDefinition,
  type PromptHandler,
  type PromptOptions,
  type PromptReturn,
  prompt,
} from './server/define/prompt.js';
export {
  type Resource,
  type ResourceContext,
  type ResourceDefinition,
  type ResourceEntry,
  type ResourceOptions,
  type ResourceReader,
  resource,
  type SubscriptionContext,
} from './server/define/resource.js';
export type { EventSchedule, ScheduleTick } from './server/define/schedule-options.js';
export type { TaskOptions, TasksOptions } from './server/define/task-options.js';
export type { TemplateValues, VariablesOf } from './server/define/template-values.js';
export {
  type Tool,
  type ToolAnnotations,
  type ToolDefinition,
  type ToolOptions,
  tool,
} from './server/define/tool.js';
export type {
  Literals,
  ToolHandler,
  ToolModule,
  ToolValue,
  ValueHandle,
} from './server/define/tool-handler.js';
export type {
  DeadEvent,
  WebhookDeliveries,
  WebhookDesk,
  WebhookOptions,
} from './server/define/webhook-options.js';
export type { Definers } from './server/define-with.js';
export type { OnError } from './server/results/map-error.js';
export { ToolError } from './server/results/tool-error.js';
export type { ToolResult } from './server/results/tool-result.js';
export type { Changed } from './server/state/changes.js';
export type { EmitOptions, Emitted } from './server/state/emitting.js';
export type { Lifespan } from './server/state/lifespan.js';
export type { Logger } from './server/state/log.js';
export { type Bus, type BusListener, memoryBus } from './state/bus.js';
export type { Cluster } from './state/cluster.js';
export { type MemoryStoreOptions, memoryStore } from './state/memory/store.js';
export type { Lease, ListItem, Store, StoreChange, StoreEntry, Version, Written } from './state/store.js';
export {
  type Committed,
  type GuardedChanges,
  type TransactionalStore,
  type TransactionClient,
  TransactionFailed,
  type TransactionResult,
} from './state/transaction.js';
export {
  type FindServiceOptions,
  findService,
  listServices,
  memoryDiscovery,
  registerService,
  serviceAvailable,
} from './transports/memory/discovery.js';
export { type InProcess, type InProcessOptions, inProcess } from './transports/memory/in-process.js';

checkRuntime();

// The code that sends requests is loaded with the first webhook.
const loadWebhooks: EventLoaders['loadWebhooks'] = async (parts, histories) => {
  const [{ webhookHost }, { lazySafeFetch }] = await Promise.all([
    import('./extensions/events/webhooks/host.js'),
    import('./adapters/node/fetch/lazy-safe-fetch.js'),
  ]);
  return webhookHost(parts, { histories, safeFetch: lazySafeFetch });
};

const loadSources: EventLoaders['loadSources'] = async (sources) => {
  const { sourceHost } = await import('./extensions/events/sources/host.js');
  return sourceHost(sources);
};

/**
 * A server, with `fetch` for runtimes that mount a module's default export. It is built once and serves any number of clients,
 * revisions and transports at the same time.
 */
export interface Server<State = unknown, User = unknown, T = unknown, E = unknown>
  extends CoreServer<State, User, T, E> {
  /** Answers an HTTP request. Cloudflare Workers also pass `env`, which is not used, and `context`. */
  readonly fetch: (request: Request, env?: unknown, context?: RequestContext) => Promise<Response>;
}

/**
 * Builds a server from its definitions. Throws a `DefinitionError` that names all mistakes in them at once.
 *
 * @example
 * const server = createServer({
 *   name: 'math',
 *   version: '1.0.0',
 *   tools: {
 *     add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }),
 *   },
 * });
 */
export function createServer<
  State = never,
  User = never,
  const T = Record<never, never>,
  R = Record<never, never>,
  P = Record<never, never>,
  M = Record<never, never>,
  Sources = AllSources,
  Mounted = Record<never, never>,
  E = Record<never, never>,
>(
  options: ServerOptions<State, User, T, R, P, M, Sources, E> &
    Present<Sources> &
    Certain<T, R, P, Sources> & { readonly mount?: Mounted },
): Server<OrUndefined<State>, OrUndefined<User>, WithMounted<T, Mounted>, WithMounted<E, Mounted, 'events'>> {
  const core = createCore<
    OrUndefined<State>,
    OrUndefined<User>,
    WithMounted<T, Mounted>,
    WithMounted<E, Mounted, 'events'>
  >(options, {
    tasks: taskHostLater,
    fallbacks: fallbacksLater,
    events: (parts) => eventHostLater(parts, { loadWebhooks, loadSources }),
  });
  let handler: Promise<Handler> | undefined;
  // Not a spread, which would read `scopes` once.
  return Object.assign(core, {
    async fetch(request: Request, _env?: unknown, context?: Parameters<Handler>[1]) {
      // A server that only speaks stdio never loads HTTP.
      handler ??= import('./http.js').then(({ createHandler }) => createHandler(core));
      return (await handler)(request, context);
    },
  });
}

/** The functions that `defineWith({ lifespan, user })` returns: `tool`, `resource`, `prompt` and `createServer`. */
export interface ServerDefiners<State, User> extends Definers<State, User> {
  /** Builds a server with the `lifespan` and `user` that `defineWith` was given. */
  readonly createServer: <
    const T = Record<never, never>,
    R = Record<never, never>,
    P = Record<never, never>,
    M = Record<never, never>,
    Mounted = Record<never, never>,
    E = Record<never, never>,
  >(
    options: ServerDefinition<State, User, T, R, P, M, true, E> & {
      /** The servers that are mounted, by prefix. */
      readonly mount?: Mounted;
    },
  ) => Server<State, User, WithMounted<T, Mounted>, WithMounted<E, Mounted, 'events'>>;
}

/**
 * Gives the definition functions the types of `ctx.state` and `ctx.user`, inferred from `lifespan` and `user`. The
 * `createServer` that it returns has both options already. To name the types instead:
 * `defineWith<{ state: App; user: Account }>()`.
 *
 * @example
 * const { tool, createServer } = defineWith({
 *   lifespan: async function* () {
 *     yield { orders: new Map([[1, 'Compass']]) };
 *   },
 *   user: ({ request }) => ({ account: request?.header('x-account') ?? 'nobody' }),
 * });
 * const list = tool({ run: (_input, { state, user }) => `${user.account}: ${state.orders.size}` });
 * export default createServer({ name: 'orders', version: '1.0.0', tools: { list } });
 */
export function defineWith<State = undefined, User = undefined>(
  setup: ServerSetup<State, User>,
): ServerDefiners<State, User>;
/**
 * Gives the definition functions the types of `ctx.state` and `ctx.user`, for a server whose `lifespan` and `user` are given
 * to `createServer`.
 *
 * @example
 * const { tool } = defineWith<{ state: { orders: Map<number, string> }; user: { account: string } }>();
 * const list = tool({ run: (_input, { state, user }) => `${user.account}: ${state.orders.size}` });
 */
export function defineWith<Types extends { readonly state?: unknown; readonly user?: unknown }>(): Definers<
  Types['state'],
  Types['user']
>;
export function defineWith(setup?: ServerSetup<unknown, unknown>): unknown {
  return makeDefiners(setup, createServer as (options: object) => object);
}
