import type { ServerAccess } from '../access/access.js';
import type { MountedRules } from '../catalog/compile.js';
import { internalsOf } from './internals.js';
import { namesWith } from './names.js';

/** The tags and tools of the servers that are mounted in a server, for the mistakes in its rules. */
export function mountedRules(mount: unknown, access: ServerAccess): MountedRules {
  const registries = Object.entries(typeof mount === 'object' && mount !== null ? mount : {}).flatMap(
    ([prefix, server]) => {
      const registry = internalsOf(server)?.registry;
      return registry === undefined ? [] : [{ names: namesWith(prefix), registry }];
    },
  );
  return {
    tags: registries.flatMap(({ registry: { tools, resources, templates, prompts } }) =>
      [tools, resources, templates, prompts].flatMap((catalog) =>
        [...catalog.values()].flatMap(({ options }) => options.tags ?? []),
      ),
    ),
    tools: registries.flatMap(({ names, registry }) =>
      [...registry.tools.values()].map(({ name, options: { tags = [], annotations = {} } }) =>
        access.of({ kind: 'tool', name: names.outer(name) }, { tags, annotations }),
      ),
    ),
  };
}
