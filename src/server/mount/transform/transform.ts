// Changes the definitions of a server that is mounted, or definitions before they are served.

import { closestName } from '../../../schema/explain/closest-name.js';
import { DefinitionError } from '../../catalog/compile.js';
import type { DefinitionList } from '../../catalog/registry.js';
import type { Mountable } from '../../define/options.js';
import { internalsOf, keepInternals, type ServerInternals } from '../internals.js';
import type { Changes } from './changes.js';
import { changeDefinition, hiddenUris } from './definition.js';
import { View } from './view.js';

const kinds = ['tools', 'resources', 'prompts', 'events'] as const;

/** Definitions before they are served. */
type Definitions = Readonly<Partial<Record<DefinitionList, Readonly<Record<string, object>>>>>;

/** Changes a server, for the one that it is mounted in, or definitions. Throws a `DefinitionError` that names the mistake. */
export function applyChanges(source: unknown, changes: Changes): object {
  if (typeof source !== 'object' || source === null)
    throw new DefinitionError([
      'transform: the first argument must be a server, or { tools, resources, prompts, events }',
    ]);
  const internals = internalsOf(source);
  try {
    return internals === undefined
      ? changeDefinitions(source as Definitions, changes)
      : viewServer(source as Mountable, internals, changes);
  } catch (error) {
    const isPlain = error instanceof TypeError && !(error instanceof DefinitionError);
    throw isPlain ? new DefinitionError([error.message]) : error;
  }
}

function viewServer({ info }: Mountable, internals: ServerInternals, changes: Changes): Mountable {
  const { registry, view: base } = internals;
  const view = new View(changes, base);
  const { tools, prompts, resources, templates, events } = registry;
  const known = {
    tools: namesIn(tools),
    prompts: namesIn(prompts),
    events: namesIn(events),
    resources: [...namesIn(resources), ...namesIn(templates)],
  };
  for (const kind of kinds) {
    const outer = known[kind].map((name) => base?.names.outer(kind, name) ?? name);
    for (const name of Object.keys(changes[kind] ?? {}))
      checkName(kind, name, { known: outer, isOpen: true });
  }
  const viewed: Mountable = {
    info,
    async dispatch() {
      throw new TypeError(
        'A transformed server is served by the one that it is mounted in: createServer({ …, mount: { "": transform(server, { … }) } })',
      );
    },
  };
  keepInternals(viewed, { ...internals, view });
  return viewed;
}

function namesIn(catalog: { readonly all: () => readonly (readonly [string, unknown])[] }): string[] {
  return catalog.all().map(([name]) => name);
}

// A definition that is added later is not a mistake; a misspelled one would not be hidden.
function checkName(
  kind: DefinitionList,
  name: string,
  { known, isOpen }: { readonly known: readonly string[]; readonly isOpen: boolean },
): void {
  if (known.includes(name)) return;
  const closest = closestName(name, known);
  if (closest === undefined && isOpen) return;
  const hint = closest === undefined ? '' : ` Did you mean "${closest}"?`;
  throw new DefinitionError([`transform: there is no "${name}" in "${kind}".${hint}`]);
}

/** Changes definitions. Hidden ones are left out. */
function changeDefinitions(definitions: Definitions, changes: Changes): Definitions {
  const changed: Record<string, unknown> = { ...definitions };
  const view = new View(changes);
  for (const kind of kinds) {
    const group = definitions[kind] ?? {};
    const known = Object.keys(group);
    for (const name of Object.keys(changes[kind] ?? {})) checkName(kind, name, { known, isOpen: false });
    if (definitions[kind] !== undefined) changed[kind] = changeGroup(kind, group, view);
  }
  return changed;
}

function changeGroup(
  kind: DefinitionList,
  group: Readonly<Record<string, object>>,
  view: View,
): Record<string, object> {
  const viewed = Object.entries(group).map(([name, definition]) => ({
    name,
    definition,
    shown: view.of(kind, name, (definition as { readonly options?: object }).options ?? {}),
  }));
  const changed = new Map<string, object>();
  for (const [at, { name, definition, shown }] of viewed.entries()) {
    if (shown === undefined) continue;
    const outer = view.names.outer(kind, name);
    if (changed.has(outer))
      throw new DefinitionError([`transform: two definitions of "${kind}" would be "${outer}"`]);
    const hidden = kind === 'resources' ? hiddenUris(viewed, at) : undefined;
    changed.set(outer, changeDefinition(definition, shown, hidden));
  }
  return Object.fromEntries(changed);
}
