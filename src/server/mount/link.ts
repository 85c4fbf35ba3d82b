// Keeps the definitions of a mounted server in the lists of the server that it is mounted in.

import { type Call, compose, type Middleware } from '../../protocol/call.js';
import type { ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { CompiledMethod } from '../catalog/compile.js';
import type { CompiledEvent } from '../catalog/events.js';
import type { CompiledPrompt } from '../catalog/prompts.js';
import {
  allKinds,
  type DefinitionList,
  type Registration,
  type Registry,
  type RegistryFollower,
} from '../catalog/registry.js';
import type { CompiledResource } from '../catalog/resources.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { ToolOutcomes } from '../results/tool-outcomes.js';
import { type ChangeMessage, changeOf } from '../state/changes.js';
import type { NewEvent, RelayEvent } from '../state/emitting.js';
import type { ServerInternals } from './internals.js';
import { type MountParts, mountEvent, mountPrompt, mountResource, mountTool } from './mounted-definitions.js';
import { composeNames, type Names, namesWith, renameCall, renameChange, urisOf } from './names.js';
import { uriRewriter } from './uris.js';
import { hidesResource } from './view.js';

/** The parts of the server that another one is mounted in. */
export interface LinkParts {
  readonly registry: Registry;
  readonly access: ServerAccess;
  readonly outcomes: ToolOutcomes;
  /** Adds a custom method. Throws if there is one of the same name. */
  readonly addMethod: (name: string, method: CompiledMethod) => Registration;
  /** Keeps the events of mounted servers; undefined if the server has no events. */
  readonly relay: RelayEvent | undefined;
  /** Whether events are delivered to webhooks. */
  readonly hasWebhooks?: boolean;
}

/** Adds the definitions of a server with a prefix, now and whenever it adds some. Returns a function that removes them. */
export function linkMount(prefix: string, inner: ServerInternals, parts: LinkParts): () => void {
  const { registry } = parts;
  const { view } = inner;
  const names = composeNames(view?.names, namesWith(prefix));
  const definitionParts = partsFor(inner, names, parts);
  const registrations = new Map<Guarded, Registration>();
  const methods: Registration[] = [];
  const kinds = new Set<DefinitionList>();

  const follower: RegistryFollower = {
    added(kind, name, entry) {
      const { options } = entry as CompiledTool;
      const viewed = view === undefined ? { options, reshape: asItIs } : view.of(kind, name, options);
      // A definition that the view hides does not exist in the outer server, so nothing can use it.
      if (viewed === undefined) return;
      const outerName = names.outer(kind, name);
      const mounted = mountEntry(kind, outerName, entry, { ...definitionParts, options: viewed.options });
      registrations.set(entry, registry.add(kind, outerName, viewed.reshape(mounted, inner), true));
      kinds.add(kind);
    },
    removed(entry) {
      registrations.get(entry)?.remove();
      registrations.delete(entry);
    },
    isKnown: () => registry.isKnown(),
    emitted(name, event, transaction) {
      const entry = inner.registry.events.get(name);
      if (entry === undefined || !registrations.has(entry)) return undefined;
      const outer = entry.resource === undefined ? event : outerChange(event);
      return outer && parts.relay?.(names.outer('events', name), outer, transaction);
    },
  };
  const listener = {
    message(message: ChangeMessage) {
      const change = changeOf(message);
      if (change.kind === 'resource' && hidesResource(view, inner.registry, change.uri)) return;
      announce(registry, inner, renameChange(message, names));
    },
    gap: () => registry.changes.reportGap(),
  };

  /** The event of a change, with the URI that clients of the outer server use. Undefined if the view hides the resource. */
  function outerChange(event: NewEvent): NewEvent | undefined {
    const uri = String(event.data['uri']);
    if (hidesResource(view, inner.registry, uri)) return undefined;
    return { ...event, data: { ...event.data, uri: names.outer('resources', uri) } };
  }

  function remove(): void {
    for (const registration of [...registrations.values(), ...methods]) registration.remove();
    registrations.clear();
  }

  let unfollow: () => void;
  try {
    for (const [name, method] of inner.methods)
      methods.push(
        parts.addMethod(name, {
          ...method,
          mounted: method.mounted ?? { home: inner.home, through: undefined },
        }),
      );
    unfollow = inner.registry.follow(follower);
  } catch (error) {
    remove();
    throw error;
  }
  inner.registry.changes.subscribe(listener);
  for (const kind of allKinds) if (inner.registry.announces(kind)) registry.declare(kind);
  announceLists(registry, kinds);
  return function unlink() {
    unfollow();
    inner.registry.changes.unsubscribe(listener);
    remove();
    announceLists(registry, kinds);
  };
}

function asItIs(entry: Guarded): Guarded {
  return entry;
}

function partsFor(
  inner: ServerInternals,
  names: Names,
  { access, outcomes, hasWebhooks = false }: LinkParts,
): Omit<MountParts, 'options'> {
  const { registry, use, view } = inner;
  const uris = urisOf(names);
  return {
    ...{ inner, access, outcomes, uris, hasWebhooks },
    rewrite: uriRewriter(uris, (uri) => registry.findResource(uri) !== undefined),
    isHidden: view && ((uri) => hidesResource(view, registry, uris.inner(uri))),
    hasResources: () => registry.resources.size + registry.templates.size > 0,
    wrap: (inside) => (use.length === 0 && inside === undefined ? undefined : around(use, inside, names)),
  };
}

/** The middleware of a mounted server, and that of a definition inside it. Both see the names that the mounted server uses. */
function around(use: readonly Middleware[], inside: Middleware | undefined, names: Names): Middleware {
  return function aroundMounted(call, next) {
    const back = async (own: Call): ReturnType<typeof next> => next(renameCall(own, names.outer));
    const last =
      inside === undefined ? back : async (own: Call): ReturnType<typeof next> => inside(own, back);
    return compose(use, last)(renameCall(call, names.inner));
  };
}

function mountEntry(kind: DefinitionList, name: string, entry: Guarded, parts: MountParts): Guarded {
  if (kind === 'tools') return mountTool(name, entry as CompiledTool, parts);
  if (kind === 'prompts') return mountPrompt(name, entry as CompiledPrompt, parts);
  if (kind === 'events') return mountEvent(name, entry as CompiledEvent, parts);
  return mountResource(name, entry as CompiledResource, parts);
}

// If the mounted server has a bus of its own, each process hears of the change there.
function announce(registry: Registry, inner: ServerInternals, change: ChangeMessage): void {
  if (inner.shared.bus() === undefined) void registry.publish(change);
  else registry.changes.notify(change);
}

function announceLists(registry: Registry, kinds: ReadonlySet<DefinitionList>): void {
  if (registry.isKnown()) for (const kind of kinds) void registry.publish({ kind });
}
