import type { ServerAccess } from '../access/access.js';
import type { MountedRules } from '../catalog/compile.js';
import type { DefinitionList } from '../catalog/registry.js';
import { internalsOf, type ServerInternals } from './internals.js';
import { composeNames, namesWith } from './names.js';

/** The tags and tools of the servers that are mounted in a server, for the mistakes in its rules. */
export function mountedRules(mount: unknown, access: ServerAccess): MountedRules {
  const mounts = Object.entries(typeof mount === 'object' && mount !== null ? mount : {}).flatMap(
    ([prefix, server]) => {
      const inner = internalsOf(server);
      return inner === undefined
        ? []
        : [{ names: composeNames(inner.view?.names, namesWith(prefix)), seen: visible(inner) }];
    },
  );
  return {
    tags: mounts.flatMap(({ seen }) => seen.flatMap(({ options }) => options.tags ?? [])),
    tools: mounts.flatMap(({ names, seen }) =>
      seen
        .filter(({ kind }) => kind === 'tools')
        .map(({ kind, name, options: { tags = [], annotations = {} } }) =>
          access.of({ kind: 'tool', name: names.outer(kind, name) }, { tags, annotations }),
        ),
    ),
  };
}

type Options = NonNullable<Parameters<ServerAccess['of']>[1]>;

function visible({
  registry,
  view,
}: ServerInternals): readonly { kind: DefinitionList; name: string; options: Options }[] {
  const { tools, resources, templates, prompts } = registry;
  const all = [
    ...tools.versions().map(({ name, options }) => ({ kind: 'tools' as const, name, options })),
    ...[...prompts.values()].map(({ name, options }) => ({ kind: 'prompts' as const, name, options })),
    ...[...resources.values(), ...templates.values()].map(({ uri, options }) => ({
      ...{ kind: 'resources' as const, name: uri, options },
    })),
  ];
  if (view === undefined) return all;
  return all.flatMap(({ kind, name, options }) => {
    const viewed = view.of(kind, name, options);
    return viewed === undefined ? [] : [{ kind, name, options: viewed.options }];
  });
}
