// The third phase of a server: its middleware, and the functions that answer its methods.

import { type Late, late } from '../../async/late.js';
import type { Call, Middleware } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { aroundOf } from '../../protocol/telemetry/hosting.js';
import { hostMiddleware, type MiddlewareHost } from '../../state/hosted-middleware.js';
import type { RefusalListener } from '../../state/refusal-listeners.js';
import { Replay } from '../asking/replay.js';
import type { ContextParts } from '../context/call-context.js';
import type { HandlerHome } from '../context/handler-run.js';
import { type ToolCalls, toolCalls } from '../handle/call-tool.js';
import { completions } from '../handle/complete.js';
import { customMethod } from '../handle/custom-methods.js';
import { Entrance } from '../handle/entrance.js';
import type { EventHost, EventPluginParts } from '../handle/event-host.js';
import type { FallbackHost, FallbackPluginParts } from '../handle/fallback-host.js';
import { promptGets } from '../handle/get-prompt.js';
import { listen } from '../handle/listen.js';
import { listMethods } from '../handle/lists.js';
import { type MethodHandlers, type MethodTable, methodTable } from '../handle/methods.js';
import { type ResourceReads, resourceReads } from '../handle/read-resource.js';
import { Reading } from '../handle/reading.js';
import { createHandlerRunner, type MethodParts } from '../handle/run-handler.js';
import { admissionLater, serverResults } from '../handle/server-results.js';
import type { TaskHost, TaskPluginParts } from '../handle/task-host.js';
import { Watching } from '../handle/watching.js';
import type { ValueReferences } from '../references/value-references.js';
import { deprecationReports } from '../state/deprecations.js';
import type { CompiledOptions } from './compile-options.js';
import type { OpenState } from './open-state.js';

/** Features that are implemented outside of `server/`. */
export interface Plugins {
  readonly tasks?: (parts: TaskPluginParts) => TaskHost;
  readonly events?: (parts: EventPluginParts) => EventHost;
  readonly fallbacks?: (parts: FallbackPluginParts) => FallbackHost;
}

/** The methods of a server, with the middleware around them. */
export interface WiredMethods extends MethodTable, Pick<ToolCalls, 'useOf'> {
  /** The middleware of the server, the first outermost. */
  readonly use: readonly Middleware[];
  /** The middleware that hears of requests whose credentials the transports refuse. */
  readonly refusalListeners: readonly RefusalListener[];
  /** Runs the handlers of this server. */
  readonly home: HandlerHome;
  readonly tasks: TaskHost | undefined;
  readonly events: EventHost | undefined;
  readonly fallbacks: FallbackHost | undefined;
  readonly watching: Watching;
}

/** Wires the methods of a server: finds and runs definitions, wraps them in middleware, and puts them into one table. */
export function wireMethods(compiled: CompiledOptions, state: OpenState, plugins: Plugins): WiredMethods {
  const table = late<MethodTable>('the table of methods');
  const context = late<ContextParts>('the functions of contexts');
  const parts = methodParts(compiled, state, context);
  const refusalListeners: RefusalListener[] = [];
  const host = {
    ...middlewareHost(compiled, state, parts),
    defines: (call: Call) => table.get().defines(call),
    onRefused: (listener: RefusalListener) => void refusalListeners.push(listener),
  };
  const use = hostMiddleware(compiled.options.use ?? [], host, 'use');
  const taskHost = late<TaskHost | undefined>('the host of tasks');
  const tools = toolCalls({
    ...parts,
    tasks: taskHost.get,
    runOnce: state.once,
    around: aroundOf(use),
    hostUse: (middleware, place) => hostMiddleware(middleware, host, place),
    servesDrafts: compiled.options.drafts === true,
    references: referencesLater(compiled, state),
  });
  const tasks = plugins.tasks?.(taskParts(compiled, state, { parts, tools }));
  taskHost.provide(tasks);
  const events = plugins.events?.(eventParts(compiled, state, parts));
  state.registry.keepChange = events?.changed;
  const reads = resourceReads(parts);
  const watching = new Watching({ ...state, log: compiled.log, entrance: parts.entrance });
  const own = methodHandlers(compiled, state, { parts, tools, tasks, events, reads, watching });
  const fallbacks = compiled.options.fallbacks && plugins.fallbacks?.(fallbackParts(compiled, state, own));
  const methods = methodTable({ ...own, ...fallbacks }, compiled.compiled.methods);
  table.provide(methods);
  context.provide(contextParts(compiled, state, { tools, events, reads, methods }));
  return {
    ...methods,
    use,
    refusalListeners,
    tasks,
    events,
    fallbacks,
    watching,
    home: parts.runner.home,
    useOf: tools.useOf,
  };
}

function referencesLater(
  { info, log }: CompiledOptions,
  { shared }: OpenState,
): () => Promise<ValueReferences> {
  let loading: Promise<ValueReferences> | undefined;
  return () => {
    loading ??= import('../references/value-references.js').then(
      (module) => new module.ValueReferences({ server: info.name, store: () => shared.store, log }),
    );
    return loading;
  };
}

function methodParts(
  { options, log, defaults }: CompiledOptions,
  { registry, gate, lifespan, seal }: OpenState,
  context: Late<ContextParts>,
): MethodParts {
  const { complete } = registry;
  const user = options.user as never;
  return {
    registry,
    entrance: new Entrance({ registry, gate, access: defaults.access }),
    runner: createHandlerRunner({ lifespan, user, seal, complete, log }, context.get),
  };
}

/** The server as its middleware sees it. */
function middlewareHost(
  { options, ownLog, log }: CompiledOptions,
  { shared, lifetimes }: OpenState,
  parts: MethodParts,
): Omit<MiddlewareHost, 'place' | 'defines' | 'onRefused'> {
  const hasUser = options.user !== undefined;
  const results = serverResults(parts.registry, {
    admission: admissionLater({ ...parts, hasUser }),
    hasBus: () => shared.bus() !== undefined,
  });
  return { shared, log, logEntry: ownLog.entry, attach: lifetimes.attach, results };
}

function taskParts(
  { options, info, log }: CompiledOptions,
  { shared, topics, registry }: OpenState,
  { parts, tools }: { readonly parts: MethodParts; readonly tools: ToolCalls },
): TaskPluginParts {
  return {
    server: info.name,
    release: info.version,
    store: shared.store,
    isShared: () => shared.bus() !== undefined,
    complete: registry.complete,
    changes: topics.tasks,
    log,
    workOf: tools.restartTask,
    serves: () => registry.taskVersions(),
    knows: (name) => registry.tools.has(name),
    async migrate(task, journal) {
      const tool = registry.tools.get(task.tool);
      const isNeeded = task.version !== undefined && tool?.versions?.all.some((one) => one.task?.migrate);
      return isNeeded
        ? (await import('../handle/migrate-task.js')).migrateTask(tool, task, journal)
        : undefined;
    },
    rules: parts.entrance.tasks,
    limits: options.tasks,
  };
}

function eventParts(
  { options, info, log }: CompiledOptions,
  { shared, topics, registry, gate, seal }: OpenState,
  { entrance }: MethodParts,
): EventPluginParts {
  return {
    server: info.name,
    store: shared.store,
    isShared: () => shared.bus() !== undefined,
    complete: registry.complete,
    events: registry.events,
    gate,
    mayFollow: (caller, uri) => entrance.mayFollow(caller, uri),
    changes: registry.changes,
    news: topics.events,
    relay: (...event) => registry.relay(...event),
    log,
    retention: options.eventRetention,
    webhooks: options.webhooks,
    secrets: seal.secrets,
    leaseMs: shared.leaseMs,
  };
}

function fallbackParts(
  { options, info, log }: CompiledOptions,
  { shared, topics, registry, seal }: OpenState,
  { listTools, callTool, tasks }: MethodHandlers,
): FallbackPluginParts {
  return {
    server: info.name,
    options: options.fallbacks as object,
    store: shared.store,
    tasks: tasks as TaskHost,
    ...{ listTools, callTool, log },
    discover: () => registry.discover(),
    kindOf(name) {
      const tool = registry.tools.get(name);
      if (tool?.task === undefined) return tool && 'call';
      return tool.task.start === 'on-background' ? 'background' : 'task';
    },
    offersTasks: () => registry.offersTasks(),
    changes: topics.tasks,
    complete: registry.complete,
    secrets: seal.secrets,
  };
}

/** The parts that answer methods. */
interface AnsweringParts {
  readonly parts: MethodParts;
  readonly tools: ToolCalls;
  readonly tasks: TaskHost | undefined;
  readonly events: EventHost | undefined;
  readonly reads: ResourceReads;
  readonly watching: Watching;
}

function methodHandlers(
  { log }: CompiledOptions,
  { registry, gate, topics }: OpenState,
  { parts, tools, tasks, events, reads, watching }: AnsweringParts,
): MethodHandlers {
  const { entrance, runner } = parts;
  const reading = new Reading({ registry, log, home: runner.home, read: reads.readForSubscriber });
  return {
    ...listMethods({ registry, gate, runner, log }),
    registry,
    tasks,
    events,
    callTool: tools.callTool,
    readResource: reads.readResource,
    getPrompt: promptGets(parts),
    complete: completions(parts),
    listen: listen({
      changes: registry.changes,
      taskChanges: topics.tasks,
      complete: registry.complete,
      publishes: (kind) => registry.announces(kind),
      entrance,
      tasks,
      watching,
      reading,
      log,
    }),
    custom: (method) => customMethod(method, parts),
  };
}

/** The functions of the server that the contexts of its handlers call. */
function contextParts(
  { options, info, log }: CompiledOptions,
  { shared, registry, seal }: OpenState,
  {
    tools,
    events,
    reads,
    methods,
  }: { readonly methods: MethodTable } & Pick<AnsweringParts, 'tools' | 'events' | 'reads'>,
): ContextParts {
  return {
    newReplay: () => new Replay(undefined, { maxBytes: seal.maxBytes }),
    announce: (change) => registry.publish(change),
    log,
    stored: { server: info.name, store: shared.store },
    deprecated: deprecationReports(options.deprecations, log),
    emit: async (name, data, options) => (events as EventHost).emit(name, data, options),
    read: reads.readNested,
    callTool: tools.callNested,
    request: async (call) => (methods.methods.get(call.method) as DirectDispatch)(call),
  };
}
