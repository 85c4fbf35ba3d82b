import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import type { DefinitionList } from '../catalog/registry.js';
import type { Announcement } from '../state/changes.js';
import { type UriRule, uriRule } from './uris.js';

/** Renames tools and prompts of a mounted server, and its resources, and back. */
export interface Names {
  readonly outer: (name: string) => string;
  readonly inner: (name: string) => string;
  readonly uris: UriRule;
}

/** The names with a prefix. An empty one changes nothing. */
export function namesWith(prefix: string): Names {
  const added = prefix === '' ? '' : `${prefix}_`;
  return {
    outer: (name) => `${added}${name}`,
    inner: (name) => (name.startsWith(added) ? name.slice(added.length) : name),
    uris: uriRule(prefix),
  };
}

/** A call under other names. */
export function renameCall(call: Call, name: (name: string) => string, uri: (uri: string) => string): Call {
  const { params } = call;
  if (call.method === 'resources/read')
    return copyCall(call, { params: { ...params, uri: uri(params['uri'] as string) } });
  return copyCall(call, { params: { ...params, name: name(params['name'] as string) } });
}

/** The name that clients use for a definition of the mounted server. */
export function nameOf(kind: DefinitionList, name: string, names: Names): string {
  return kind === 'resources' ? names.uris.outer(name) : names.outer(name);
}

/** A change under the names that clients use. */
export function renameChange(change: Announcement, names: Names): Announcement {
  if (change.kind === 'resource') return { ...change, uri: names.uris.outer(change.uri) };
  const { kind, name } = change;
  return name === undefined ? change : { kind, name: nameOf(kind, name, names) };
}
