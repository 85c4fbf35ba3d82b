import type { CompiledAccess, GuardedOptions, ServerAccess } from '../access/access.js';
import type { MountedRules } from '../catalog/compile.js';
import { internalsOf } from './internals.js';
import { composeNames, namesWith } from './names.js';

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
      isKnown: () => false,
    });
    unfollow?.();
  }
  return { tags, tools };
}
