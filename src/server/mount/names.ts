import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import type { DefinitionList } from '../catalog/registry.js';
import { type Announcement, type ChangeMessage, changeOf, withChange } from '../state/changes.js';
import { type UriRule, uriRule } from './uris.js';

/** Renames the definitions of a mounted server, and back. A resource is named by its URI. */
export interface Names {
  readonly outer: (kind: DefinitionList, name: string) => string;
  readonly inner: (kind: DefinitionList, name: string) => string;
}

/** The names with a prefix. An empty one changes nothing. */
export function namesWith(prefix: string): Names {
  const added = prefix === '' ? '' : `${prefix}_`;
  const uris = uriRule(prefix);
  return {
    outer: (kind, name) => (kind === 'resources' ? uris.outer(name) : `${added}${name}`),
    inner: (kind, name) => {
      if (kind === 'resources') return uris.inner(name);
      return name.startsWith(added) ? name.slice(added.length) : name;
    },
  };
}

/** Names that are changed twice: first by `inner`, then by `outer`. */
export function composeNames(inner: Names | undefined, outer: Names): Names {
  if (inner === undefined) return outer;
  return {
    outer: (kind, name) => outer.outer(kind, inner.outer(kind, name)),
    inner: (kind, name) => inner.inner(kind, outer.inner(kind, name)),
  };
}

/** The rule for the URIs of resources. */
export function urisOf(names: Names): UriRule {
  return {
    outer: (uri) => names.outer('resources', uri),
    inner: (uri) => names.inner('resources', uri),
  };
}

/** A call under other names. */
export function renameCall(call: Call, rename: Names['outer']): Call {
  const { method, params } = call;
  if (method === 'resources/read')
    return copyCall(call, { params: { ...params, uri: rename('resources', params['uri'] as string) } });
  const kind = kindOf(method);
  return copyCall(call, { params: { ...params, name: rename(kind, params['name'] as string) } });
}

function kindOf(method: string): DefinitionList {
  if (method === 'prompts/get') return 'prompts';
  return method.startsWith('events/') ? 'events' : 'tools';
}

/** A change under the names that clients use, for the same callers. */
export function renameChange(message: ChangeMessage, names: Names): ChangeMessage {
  return withChange(message, rename(changeOf(message), names));
}

function rename(change: Announcement, names: Names): Announcement {
  if (change.kind === 'resource') return { ...change, uri: names.outer('resources', change.uri) };
  const { kind, name } = change;
  return name === undefined ? change : { kind, name: names.outer(kind, name) };
}
