// The model: what each caller of a stack sees, as the documentation promises it.

import { type Item, itemsOf, type Kind, type Who } from './reference-server.js';
import type { GatewaySpec, LayerSpec, MountSpec, ServerSpec } from './spec.js';

/** A definition as a caller of a layer knows it. */
export interface Seen {
  readonly kind: Kind;
  /** The name that callers of the layer use. */
  readonly name: string;
  readonly item: Item;
  /** The caller that the reference server sees. */
  readonly who: Who;
  /** Whether it is in the list. With `search`, the others can be called as well. */
  readonly isListed: boolean;
}

/** The changes while a stack is used. */
export interface Changes {
  /** The definitions that each reference server has added, in their order. */
  readonly late: Map<string, Item[]>;
}

const UNCHANGED: Changes = { late: new Map() };

const SEARCH = ['search_tools', 'call_tool'];

/** Everything that a caller may see and use, in the order of the lists. */
export function viewOf(
  layer: LayerSpec,
  who: Who,
  changes: Changes,
  /** The caller that the layer saw first. */
  first: Who = 'ada',
): readonly Seen[] {
  switch (layer.kind) {
    case 'server':
      return withSearch(layer, ofServer(layer, who, changes));
    case 'mount':
      return withSearch(layer, ofMount(layer, who, changes));
    case 'proxy':
      return withSearch(layer, viewOf(layer.of, behind(layer, who), changes, behind(layer, first)));
    case 'gateway':
      return withSearch(layer, ofGateway(layer, who, { changes, first }));
    default:
      return layer satisfies never;
  }
}

/** The caller that a layer behind a proxy or a gateway sees. */
export function behind({ identity }: { readonly identity: 'drop' | 'own' }, who: Who): Who {
  return identity === 'drop' ? 'nobody' : who;
}

function ofServer(spec: ServerSpec, who: Who, { late }: Changes): readonly Seen[] {
  const { leaf, policy } = spec;
  return [...itemsOf(spec), ...(late.get(leaf) ?? [])]
    .filter(({ only }) => only === undefined || only === who)
    .filter(({ kind, name }) => !(policy && who === 'bob' && kind === 'tool' && name === 'wipe'))
    .map((item) => ({ kind: item.kind, name: item.name, item, who, isListed: true }));
}

/** The tools of a server with `search` appear where it is mounted as those of any other. */
function ofMount({ of, prefix, transform }: MountSpec, who: Who, changes: Changes): readonly Seen[] {
  const inner = of.kind === 'server' ? ofServer(of, who, changes) : ofMount(of, who, changes);
  return inner
    .map((seen) => transformed(seen, transform))
    .filter((seen) => seen !== undefined)
    .map((seen) => ({ ...seen, name: mountedName(seen, prefix) }));
}

/** The changes of `transform`, by the local name of a definition. */
export const TRANSFORMED = { rename: 'public', hide: ['echo', 'hello'], guard: 'mine' } as const;

function transformed(seen: Seen, transform: MountSpec['transform']): Seen | undefined {
  const { item, who } = seen;
  if (transform === 'hide' && (TRANSFORMED.hide as readonly string[]).includes(item.name)) return undefined;
  if (transform === 'guard' && item.kind === 'tool' && item.name === TRANSFORMED.guard && who !== 'bob')
    return undefined;
  if (transform === 'rename' && item.kind === 'tool' && item.name === TRANSFORMED.rename)
    return { ...seen, name: `${seen.name}-new` };
  return seen;
}

function mountedName({ kind, name }: Seen, prefix: string): string {
  if (prefix === '') return name;
  return kind === 'tool' || kind === 'prompt' ? `${prefix}_${name}` : `${prefix}+${name}`;
}

function ofGateway(
  gateway: GatewaySpec,
  who: Who,
  { changes, first }: { readonly changes: Changes; readonly first: Who },
): readonly Seen[] {
  const { members, hides, pins } = gateway;
  const all = members.flatMap(({ name: server, of }) => {
    const innerFirst = behind(gateway, first);
    // The definitions that the first caller saw at the start are pinned; another one of the same name is a change.
    const pinned = pins ? viewOf(of, innerFirst, UNCHANGED, innerFirst) : undefined;
    const isHidden = (name: string): boolean =>
      hides.some((rule) => rule.who === who && name.startsWith(rule.prefix));
    // A name that is in no list belongs to the server whose name has the most in common with it.
    const isAnothers = (name: string): boolean =>
      members.some(
        (other) =>
          other.name.length > server.length &&
          name.startsWith(`${other.name}_`) &&
          !isHidden(name.slice(other.name.length + 1)),
      );
    return viewOf(of, behind(gateway, who), changes, innerFirst)
      .filter(({ name }) => !isHidden(name))
      .filter((seen) => pinned === undefined || (seen.isListed && pinned.some((each) => isSame(each, seen))))
      .map((seen) => ({
        ...seen,
        name: seen.kind === 'tool' || seen.kind === 'prompt' ? `${server}_${seen.name}` : seen.name,
      }))
      .filter(({ name, isListed }) => isListed || !isAnothers(name));
  });
  // Of two with the same name, the first that is listed wins.
  const taken = new Set<string>();
  return [...all.filter(({ isListed }) => isListed), ...all.filter(({ isListed }) => !isListed)].filter(
    ({ kind, name }) => {
      // A resource of two servers is read from the first whose lists are known.
      if (kind === 'resource' || kind === 'template') return true;
      const key = `${kind} ${name}`;
      if (taken.has(key)) return false;
      taken.add(key);
      return true;
    },
  );
}

/** Whether two definitions are the same to a gateway that compares them. Resources of two servers with one URI are, word for word. */
function isSame(one: Seen, other: Seen): boolean {
  if (one.kind !== other.kind || one.name !== other.name) return false;
  const isUri = one.kind === 'resource' || one.kind === 'template';
  return isUri || (one.item.leaf === other.item.leaf && one.item.name === other.item.name);
}

function withSearch({ search }: { readonly search: boolean }, seen: readonly Seen[]): readonly Seen[] {
  if (!search) return seen;
  const two = SEARCH.map(
    (name): Seen => ({
      kind: 'tool',
      name,
      item: { leaf: '', kind: 'tool', name },
      who: 'nobody',
      isListed: true,
    }),
  );
  const others = seen.filter(({ kind, name }) => kind !== 'tool' || !SEARCH.includes(name));
  return [...two, ...others.map((each) => (each.kind === 'tool' ? { ...each, isListed: false } : each))];
}

/** The definition that a URI belongs to: a resource that is listed, otherwise a template that matches. */
export function readerOf(view: readonly Seen[], uri: string): Seen | undefined {
  return (
    view.find(({ kind, name }) => kind === 'resource' && name === uri) ??
    view.find(({ kind, name }) => kind === 'template' && matches(name, uri))
  );
}

function matches(template: string, uri: string): boolean {
  const start = template.slice(0, template.indexOf('{'));
  return uri.startsWith(start) && /^[^/]+$/.test(uri.slice(start.length));
}

/** The tool or prompt of this name. */
export function namedIn(view: readonly Seen[], kind: 'tool' | 'prompt', name: string): Seen | undefined {
  return view.find((seen) => seen.kind === kind && seen.name === name);
}
