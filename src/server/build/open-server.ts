// The last phase of a server: mounts others in it, and makes the server that programs use.

import type { Dispatch } from '../../protocol/call.js';
import { type AuthRun, authRun } from '../../state/auth-run.js';
import { withRefusalListeners } from '../../state/refusal-listeners.js';
import { addersOf } from '../catalog/adders.js';
import { compileDefinition } from '../catalog/compile.js';
import type { ExtensionHost } from '../define/extension.js';
import { definitionsOf } from '../handle/definitions.js';
import { createDispatch } from '../handle/dispatch.js';
import { withDefinitionTags } from '../handle/drafts/with-definition-tags.js';
import type { EventHost } from '../handle/event-host.js';
import { keepInternals, type ServerInternals } from '../mount/internals.js';
import { Mounts } from '../mount/mounts.js';
import { SharedLife } from '../mount/shared-life.js';
import { type Changed, changedOver } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { CompiledOptions } from './compile-options.js';
import type { CoreServer } from './core-server.js';
import type { OpenState } from './open-state.js';
import type { WiredMethods } from './wire-methods.js';

/** The parts of a server that are made in its last phase. */
interface OpenParts {
  readonly mounts: Mounts;
  /** The parts that run once, also for servers that this one is mounted in. */
  readonly life: SharedLife;
  readonly auth: AuthRun | undefined;
  readonly changed: Changed;
  readonly prepare: ServerInternals['prepare'];
  readonly define: ExtensionHost['define'];
}

/** Makes a server of its parts. */
export function openServer<State, User, T, E>(
  compiled: CompiledOptions,
  state: OpenState,
  wired: WiredMethods,
): CoreServer<State, User, T, E> {
  const { options, info, log, defaults } = compiled;
  const { registry, shared, seal } = state;
  const { relay } = wired.events ?? {};
  const mounts = new Mounts({
    ...defaults,
    ...wired,
    registry,
    shared,
    relay,
    hasAuth: options.auth !== undefined,
  });
  state.mounts.provide(mounts);
  mounts.addAll(options.mount);
  const prepare: ServerInternals['prepare'] = (kind, name, definition) => {
    const entry = compileDefinition(kind, name, definition, defaults);
    return () => registry.add(`${kind}s`, name, entry);
  };
  const open: OpenParts = {
    mounts,
    life: sharedLife(state, mounts, log),
    auth: authRun(options.auth, () => ({ shared, secrets: seal.secrets(), log })),
    changed: changedOver((change) => void registry.publish(change)),
    prepare,
    define: (kind, name, definition) => prepare(kind, name, definition)(),
  };
  const server = serverOf<State, User, T, E>(compiled, state, { ...wired, ...open });
  keepInternals(server, serverInternals(compiled, state, { ...wired, ...open }));
  const { changed, define } = open;
  const { attach } = state.lifetimes;
  for (const each of compiled.extensions)
    each.attach?.({ info, changed, log, isGuarded: () => registry.isGuarded, define, attach });
  return server;
}

type AllParts = WiredMethods & OpenParts;

function serverOf<State, User, T, E>(
  compiled: CompiledOptions,
  state: OpenState,
  parts: AllParts,
): CoreServer<State, User, T, E> {
  const { registry, gate, shared, seal } = state;
  const { access } = compiled.defaults;
  const running = runningServer(compiled, state, parts);
  const server: CoreServer<State, User, T, E> = {
    info: compiled.info,
    dispatch: dispatchOf(compiled, state, parts),
    behaviours: [...compiled.on],
    changed: parts.changed,
    logger: compiled.log,
    get scopes() {
      return registry.scopes;
    },
    get isGuarded() {
      return registry.isGuarded;
    },
    ...addersOf(parts.define),
    definitions: definitionsOf(() => ({ registry, gate, access })),
    event(name, definition) {
      const entry = compileDefinition('event', name, definition, compiled.defaults);
      const registration = registry.add('events', name, entry);
      if (entry.schedule !== undefined) parts.events?.added();
      return registration;
    },
    emit: async (name, data, options) => (parts.events as EventHost).emit(name, data as object, options),
    webhooks: parts.events?.webhooks as EventHost['webhooks'],
    mount: (prefix, other) => parts.mounts.add(prefix, other),
    provideSecret: seal.provide,
    provideLog: (settings) => compiled.ownLog.provide(settings),
    provideCluster: (provided) => shared.provide(provided),
    shared,
    auth: parts.auth,
    secrets: seal.secrets,
    askingPage: parts.fallbacks?.page,
    ...running,
    [Symbol.asyncDispose]: running.close,
  };
  return withRefusalListeners(server, parts.refusalListeners);
}

function dispatchOf(
  { options, info, defaults, log, on }: CompiledOptions,
  { registry, shared, front }: OpenState,
  { methods, use }: WiredMethods,
): Dispatch {
  const { mapError } = defaults;
  const dispatch = createDispatch({ server: info.name, registry, methods, use, mapError, log, on });
  return withDefinitionTags(front?.around(dispatch) ?? dispatch, options.drafts, { registry, shared, log });
}

/** The functions that start and close a server. */
function runningServer(
  { log }: CompiledOptions,
  { shared, topics, registry, releases, once }: OpenState,
  { auth, life, tasks, events, fallbacks, watching }: AllParts,
): Pick<CoreServer, 'start' | 'drain' | 'close'> {
  const drain: CoreServer['drain'] = async (limits) => {
    fallbacks?.close();
    await Promise.all([tasks?.close(limits), watching.close(), events?.drain(limits)]);
  };
  return {
    async start() {
      await shared.start();
      await auth?.start();
      await topics.changes.ready();
      await life.serve();
      if (registry.offersTasks() || fallbacks !== undefined) await tasks?.resume();
      if (registry.offersEvents) await events?.start();
      await releases.start();
    },
    drain,
    async close() {
      await Promise.all([once.close(), drain(), releases.close(), events?.close()]);
      try {
        await life.close();
      } finally {
        await auth?.close().catch((error: unknown) => log('error', '"auth" could not be closed', error));
        for (const each of Object.values(topics)) each.close();
        await shared.close();
      }
    },
  };
}

function sharedLife({ lifetimes, lifespan }: OpenState, mounts: Mounts, log: Logger): SharedLife {
  return new SharedLife(
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
}

/** The parts of the server that a server it is mounted in uses. */
function serverInternals(
  { options, info, log, defaults, compiled }: CompiledOptions,
  { registry, shared, lifetimes, lifespan, checks }: OpenState,
  { home, use, useOf, events, changed, prepare, mounts, life }: AllParts,
): ServerInternals {
  return {
    name: info.name,
    registry,
    home,
    use,
    useOf,
    methods: compiled.methods,
    shared,
    changed,
    log,
    mapError: defaults.mapError,
    hasAuth: options.auth !== undefined,
    checks,
    prepare,
    attach: lifetimes.attach,
    emit: async (name, data, eventOptions) => (events as EventHost).emit(name, data, eventOptions),
    state: () => lifespan.start(),
    contains: (other) => mounts.contains(other),
    hold: () => life.hold(),
    letGo: () => life.letGo(),
    async start() {
      await life.start();
      if (registry.offersEvents) await events?.start();
    },
    async close() {
      await Promise.all([events?.drain(), events?.close()]);
      await life.close();
    },
  };
}
