// The servers that are mounted in a server.

import type { CompiledAccess, GuardedOptions, ServerAccess } from '../access/access.js';
import { DefinitionError, type MountedRules } from '../catalog/compile.js';
import type { Registration, Registry } from '../catalog/registry.js';
import type { ChosenState } from '../state/chosen-state.js';
import type { Logger } from '../state/log.js';
import { internalsOf, type ServerInternals } from './internals.js';
import { type LinkParts, linkMount } from './link.js';
import { composeNames, namesWith } from './names.js';
import { schemeOf } from './uris.js';

/** The parts of the server that others are mounted in. */
export interface MountsParts extends LinkParts {
  readonly shared: ChosenState;
  /** Whether the server identifies its callers. */
  readonly hasAuth: boolean;
}

const PREFIX = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

interface Mount {
  readonly prefix: string;
  readonly inner: ServerInternals;
}

/** Mounts servers in a server, and starts and closes them with it. */
export class Mounts {
  readonly #parts: MountsParts;
  readonly #mounts = new Set<Mount>();
  #isStarted = false;

  constructor(parts: MountsParts) {
    this.#parts = parts;
  }

  /** Mounts a server: its definitions appear with the prefix, now and whenever it adds some. Throws a `DefinitionError`. */
  add(prefix: string, server: unknown): Registration {
    const inner = internalsOf(server);
    const problem = this.#problem(prefix, inner);
    if (problem !== undefined || inner === undefined)
      throw new DefinitionError([`mount "${prefix}": ${problem ?? 'it is not a server'}`]);
    const mount = { prefix, inner };
    const unlink = linkMount(prefix, inner, this.#parts);
    inner.shared.adopt(this.#parts.shared);
    inner.hold();
    this.#mounts.add(mount);
    if (this.#isStarted)
      void inner.start().catch((error) => inner.log('error', 'A mounted server could not start', error));
    return {
      remove: () => {
        if (!this.#mounts.delete(mount)) return;
        unlink();
        // It stays open, so that it can be mounted again.
        inner.letGo();
      },
    };
  }

  /** Mounts the servers in the options of a server. */
  addAll(servers: Readonly<Record<string, unknown>> = {}): void {
    if (typeof servers !== 'object' || servers === null || Array.isArray(servers))
      throw new DefinitionError(['"mount" must be an object with the prefixes as keys: { weather: server }']);
    for (const [prefix, server] of Object.entries(servers)) this.add(prefix, server);
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    for (const { inner } of this.#mounts) await inner.start();
  }

  async close(log: Logger): Promise<void> {
    this.#isStarted = false;
    const failures: unknown[] = [];
    for (const { prefix, inner } of this.#mounts) {
      if (inner.letGo() > 0) continue;
      await inner.close().catch((error) => {
        log('error', `The server mounted as "${prefix}" could not be closed`, error);
        failures.push(error);
      });
    }
    this.#mounts.clear();
    if (failures.length > 0) throw failures[0];
  }

  /** The checks of readiness of all mounted servers. */
  checks(): ReturnType<ServerInternals['checks']> {
    return [...this.#mounts].flatMap(({ inner }) => inner.checks());
  }

  #problem(prefix: string, inner: ServerInternals | undefined): string | undefined {
    const { registry, hasAuth } = this.#parts;
    if (prefix !== '' && !PREFIX.test(prefix))
      return 'a prefix has 1 to 32 letters, digits, "_" and "-", and begins with a letter';
    if (inner === undefined)
      return 'it is not a server; make one with createServer({ … }) of the same copy of fullmcp';
    if (inner.registry === registry || inner.contains(registry))
      return 'a server cannot be mounted in itself';
    const rival = [...this.#mounts].find(({ prefix: other }) => schemeOf(other) === schemeOf(prefix));
    // Without a prefix, only names can collide.
    if (rival !== undefined && prefix !== '')
      return rival.prefix === prefix
        ? 'another server is mounted with this prefix'
        : `its resources could not be told from those of "${rival.prefix}"; choose another prefix`;
    if (inner.hasAuth && !hasAuth)
      return 'the server has "auth", which counts only for the server that clients connect to. Set "auth" there, too, or its rules would protect nothing.';
    return undefined;
  }

  /** Whether a server is mounted in this one, at any depth. */
  contains(registry: Registry): boolean {
    return [...this.#mounts].some(({ inner }) => inner.registry === registry || inner.contains(registry));
  }
}

/** The tags and tools of the servers that are mounted in a server, for the mistakes in its rules. */
export function mountedRules(mount: unknown, access: ServerAccess): MountedRules {
  const tags: string[] = [];
  const tools: (CompiledAccess | undefined)[] = [];
  for (const [prefix, server] of Object.entries(typeof mount === 'object' && mount !== null ? mount : {})) {
    const { registry, view } = internalsOf(server) ?? {};
    const names = composeNames(view?.names, namesWith(prefix));
    const unfollow = registry?.follow({
      added(kind, name, entry) {
        const { options } = entry as unknown as { readonly options: GuardedOptions };
        const seen = view === undefined ? options : view.of(kind, name, options)?.options;
        if (seen === undefined) return;
        const { tags: own = [], annotations = {} } = seen;
        tags.push(...own);
        if (kind === 'tools')
          tools.push(access.of({ kind: 'tool', name: names.outer(kind, name) }, { tags: own, annotations }));
      },
      removed: () => undefined,
      emitted: () => undefined,
      isKnown: () => false,
    });
    unfollow?.();
  }
  return { tags, tools };
}
