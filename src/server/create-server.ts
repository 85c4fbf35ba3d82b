/// <reference lib="esnext.disposable" preserve="true" />
// Builds a server from its definitions.

import { type Call, type Dispatch, withPrint } from '../protocol/call.js';
import type { Implementation } from '../protocol/model/model.js';
import { aroundOf } from '../protocol/telemetry/hosting.js';
import type { LogSettings } from '../protocol/telemetry/log-settings.js';
import { OperatorLog } from '../protocol/telemetry/operator-log.js';
import { type AuthRun, authRun } from '../state/auth-run.js';
import type { Cluster, SharedState } from '../state/cluster.js';
import { hostMiddleware, MiddlewareLifetimes, type RefusalListener } from '../state/hosted-middleware.js';
import { readServerAccess } from './access/access.js';
import { Gate } from './access/gate.js';
import { createSeal } from './asking/sealed-state.js';
import { type AddPrompt, type AddResource, type AddTool, addersOf } from './catalog/adders.js';
import { compileDefinition, compileDefinitions, DefinitionError } from './catalog/compile.js';
import { type Registration, Registry } from './catalog/registry.js';
import { Releases } from './catalog/releases.js';
import type { ServerDefinitions } from './define/definitions.js';
import type { ExtensionHost } from './define/extension.js';
import type { AnyServerOptions, Mountable } from './define/options.js';
import { definitionsOf } from './handle/definitions.js';
import { createDispatch } from './handle/dispatch.js';
import { withDigests } from './handle/drafts/with-digests.js';
import { keptResults } from './handle/kept-results.js';
import { methodTable } from './handle/methods.js';
import { sealOptions } from './handle/seal-options.js';
import type { TaskHost, TaskPluginParts } from './handle/task-host.js';
import { keepInternals, type ServerInternals } from './mount/internals.js';
import { mountedRules } from './mount/mounted-rules.js';
import { Mounts } from './mount/mounts.js';
import { SharedLife } from './mount/shared-life.js';
import { mapErrors } from './results/map-error.js';
import { completeAs } from './results/results.js';
import { resultMeta, serverInfo } from './results/server-info.js';
import { toolOutcomes } from './results/tool-outcomes.js';
import { searchFront } from './search/search-front.js';
import { type Behaviour, readCompatibility } from './state/behaviours.js';
import { type Changed, type ChangeMessage, changedOver } from './state/changes.js';
import { deprecationReports } from './state/deprecations.js';
import { runOnce } from './state/idempotency.js';
import { LifespanRun } from './state/lifespan.js';
import type { Logger } from './state/log.js';
import { ChosenState } from './state/shared.js';
import { serverTopics } from './topics.js';
import { withExtensions } from './with-extensions.js';

/** A server. It is built once and serves any number of clients, revisions and transports at the same time. */
export interface CoreServer<State = unknown, User = unknown, T = unknown> extends AsyncDisposable {
  /** The name, version and description that clients see. */
  readonly info: Implementation;
  /** Answers one call. Every transport calls it. */
  readonly dispatch: Dispatch;
  /** Announces changes to subscribed clients. */
  readonly changed: Changed;
  /** The changed defaults that hold for this server, by the option `compatibility`. */
  readonly behaviours: readonly Behaviour[];
  /** Writes to the `logger` of the options. */
  readonly logger: Logger;
  /** The scopes that the rules of this server and of its definitions name, sorted. Pass them to a provider, so that clients ask for them. */
  readonly scopes: readonly string[];
  /** Whether a definition of this server has rules of access. */
  readonly isGuarded: boolean;
  /** Adds a tool to the running server. With the name alone, in the fluent form. Throws if the name is taken. */
  readonly tool: AddTool<State, User>;
  /** Adds a resource, or a template if the URI has braces. With the URI alone, in the fluent form. Throws if the URI is taken. */
  readonly resource: AddResource<State, User>;
  /** The definitions of this server, to list, look up and check without a call. */
  readonly definitions: ServerDefinitions;
  /** Mounts another server: its definitions appear with the prefix, until it is removed. Throws if a name is taken. */
  readonly mount: (prefix: string, server: Mountable) => Registration;
  /** Adds a prompt to the running server. With the name alone, in the fluent form. Throws if the name is taken. */
  readonly prompt: AddPrompt<State, User>;
  /**
   * Sets the secret if the options have none; `serve` and `serveStdio` call it with `MCP_SECRET`. In an array, the first secret
   * encrypts and all of them decrypt. A function is called when the secret is first used.
   */
  readonly provideSecret: (secret: string | readonly string[] | (() => string)) => void;
  /** Sets the level and the format of the log on standard error; `serve` calls it. Messages to a `logger` of the options do not change. */
  readonly provideLog: (settings: Partial<LogSettings>) => void;
  /** Sets the cluster if the options have none; `serve` calls it with the engine at `MCP_CLUSTER_URL`. */
  readonly provideCluster: (cluster: Cluster) => void;
  /** The store, the bus and the event log that the transports of this server use, too. */
  readonly shared: SharedState;
  /** The option `auth`, which the HTTP transports of this server use; undefined if there is none. */
  readonly auth: AuthRun | undefined;
  /** The middleware that hears of requests whose credentials the transports refuse. */
  readonly refusalListeners: readonly RefusalListener[];
  /** The secrets of this server: the first one encrypts, all of them decrypt. Undefined if none was set. */
  readonly secrets: () => readonly string[] | undefined;
  /** Runs the lifespan and resumes unfinished tasks now, instead of with the first call. */
  readonly start: () => Promise<void>;
  /**
   * Pauses tasks so that the next process can resume them: no further step starts, and running steps may finish and are saved.
   * `close` does the same. Call `drain` first if the server still answers calls in the meantime.
   */
  readonly drain: (options?: {
    /** The time for running steps to finish. Default: 5 s. */
    readonly drainMs?: number;
  }) => Promise<void>;
  /** Pauses the tasks, ends the lifespan and closes the store. Close the transports first. */
  readonly close: () => Promise<void>;
  /** For types only: the tools that a typed client reads. */
  readonly '~tools'?: T;
}

/** Features that are implemented outside of `server/`. */
export interface Plugins {
  readonly tasks?: (parts: TaskPluginParts) => TaskHost;
}

/** Builds a server from its options. `index.ts` adds the types and the plugins. */
export function createServer<State, User, T>(
  given: AnyServerOptions,
  plugins: Plugins = {},
): CoreServer<State, User, T> {
  if (typeof given !== 'object' || given === null)
    throw new DefinitionError([
      'createServer needs an object: createServer({ name, version, tools: { … } })',
    ]);
  const { options, extensions } = withExtensions(given);
  const { logger, timeoutMs, idempotency, use = [], user, drafts } = options;
  // A logger that is not a function is reported later, with the other mistakes.
  const ownLog = new OperatorLog(options.name);
  const log: Logger = ownLog.loggerOf(logger);
  const mapError = mapErrors(options.onError, log);
  const meta = resultMeta(options);
  // Middleware may change the `_meta` of an outcome, so only a server without middleware prints its `_meta` once.
  const complete = completeAs(use.length === 0 ? withPrint(meta) : meta);
  const access = readServerAccess(options.access, log);
  const on = readCompatibility(options.compatibility);
  const defaults = { timeoutMs, idempotency, log, mapError, outcomes: toolOutcomes(complete, on), access };
  const compiled = compileDefinitions(options as object, defaults, mountedRules(options.mount, access));
  const front = searchFront(options.search, { defaults, compiled, server: () => ({ registry, gate, log }) });
  const info = serverInfo(options);
  const lifetimes = new MiddlewareLifetimes(log);
  const { attach } = lifetimes;
  const checks = (): readonly (() => Promise<void>)[] => [...lifetimes.checks(), ...mounts.checks()];
  const shared = new ChosenState({ ...options, log, checks });
  const { store } = shared;
  const topics = serverTopics(shared, log);
  const gate = new Gate(log);
  const registry = new Registry(info, options, { compiled, complete, changes: topics.changes, gate, front });
  const releases = new Releases(registry, topics.releases);
  const lifespan = new LifespanRun(options.lifespan);
  const announce = (change: ChangeMessage): Promise<unknown> | undefined => registry.publish(change);
  const changed = changedOver((change) => void announce(change));
  const seal = createSeal(sealOptions(options, { log, store }));
  const [hasUser, hasAuth] = [user !== undefined, options.auth !== undefined];
  const { leaseMs } = shared;
  const once = runOnce({ name: info.name, store, outcomes: topics.outcomes, log, hasUser, leaseMs });
  const results = keptResults(registry, {
    admission: (call) => admission(call),
    hasBus: () => shared.bus() !== undefined,
  });
  const refusalListeners: RefusalListener[] = [];
  const host = {
    shared,
    log,
    logEntry: ownLog.entry,
    attach,
    defines: (call: Call) => defines(call),
    results,
    onRefused: (listener: RefusalListener) => void refusalListeners.push(listener),
  };
  const hosted = hostMiddleware(use, host, 'use');
  const { methods, tasks, defines, watching, admission, ...table } = methodTable({
    registry,
    gate,
    access,
    seal,
    lifespan: lifespan as LifespanRun<never>,
    announce,
    stored: { server: info.name, store },
    deprecated: deprecationReports(options.deprecations, log),
    log,
    user: user as never,
    methods: compiled.methods,
    runOnce: once,
    around: aroundOf(hosted),
    hostUse: (middleware, place) => hostMiddleware(middleware, host, place),
    taskChanges: topics.tasks,
    shared,
    tasks:
      plugins.tasks &&
      ((work) =>
        plugins.tasks?.({
          server: info.name,
          store,
          isShared: () => shared.bus() !== undefined,
          complete: registry.complete,
          changes: topics.tasks,
          log,
          ...work,
          limits: options.tasks ?? {},
        }) as TaskHost),
  });
  const mounts = new Mounts({ ...defaults, ...table, registry, shared, hasAuth });
  mounts.addAll(options.mount);
  const life = new SharedLife(
    async () => {
      await lifetimes.start();
      await lifespan.start();
      await mounts.start();
    },
    async () => {
      await lifetimes.close();
      try {
        await mounts.close(log);
      } finally {
        await lifespan.close();
      }
    },
  );
  const auth = authRun(options.auth, () => ({ shared, secrets: seal.secrets(), log }));
  const drain = async (limits?: { readonly drainMs?: number }): Promise<void> =>
    void (await Promise.all([tasks?.close(limits), watching.close()]));

  async function close(): Promise<void> {
    await Promise.all([once.close(), drain(), releases.close()]);
    try {
      await life.close();
    } finally {
      await auth?.close().catch((error: unknown) => log('error', '"auth" could not be closed', error));
      for (const each of Object.values(topics)) each.close();
      await shared.close();
    }
  }

  const prepare: ServerInternals['prepare'] = (kind, name, definition) => {
    const entry = compileDefinition(kind, name, definition, defaults);
    return () => registry.add(`${kind}s`, name, entry);
  };
  const define: ExtensionHost['define'] = (kind, name, definition) => prepare(kind, name, definition)();

  const dispatch = createDispatch({ server: info.name, registry, methods, use: hosted, mapError, log, on });
  const server: CoreServer<State, User, T> = {
    info,
    dispatch: withDigests(front?.around(dispatch) ?? dispatch, drafts, { registry, shared, log }),
    behaviours: [...on],
    changed,
    logger: log,
    get scopes() {
      return registry.scopes;
    },
    get isGuarded() {
      return registry.isGuarded;
    },
    ...addersOf(define),
    definitions: definitionsOf(() => ({ registry, gate, access })),
    mount: (prefix, other) => mounts.add(prefix, other),
    provideSecret: seal.provide,
    provideLog: (settings) => ownLog.provide(settings),
    provideCluster: (provided) => shared.provide(provided),
    shared,
    auth,
    refusalListeners,
    secrets: seal.secrets,
    async start() {
      await shared.start();
      await auth?.start();
      await topics.changes.ready();
      await life.serve();
      if (registry.offersTasks()) await tasks?.resume();
      await releases.start();
    },
    drain,
    close,
    [Symbol.asyncDispose]: close,
  };
  keepInternals(server, {
    ...table,
    name: info.name,
    registry,
    use: hosted,
    methods: compiled.methods,
    shared,
    changed,
    log,
    mapError,
    hasAuth,
    checks,
    prepare,
    attach: lifetimes.attach,
    state: () => lifespan.start(),
    contains: (other) => mounts.contains(other),
    hold: () => life.hold(),
    letGo: () => life.letGo(),
    start: () => life.start(),
    close: () => life.close(),
  });
  for (const each of extensions)
    each.attach?.({ info, changed, log, isGuarded: () => registry.isGuarded, define, attach });
  return server;
}
