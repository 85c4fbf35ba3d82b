import type { GuardedOptions } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { DefinitionList, Registry } from '../catalog/registry.js';
import type { ToolErrors } from '../catalog/run-tool.js';
import type { Names } from './names.js';

/** The definitions of a server as `transform` has changed them, for the server that it is mounted in. */
export interface MountView {
  /** A definition, changed; undefined if it is hidden. */
  readonly of: (kind: DefinitionList, name: string, options: GuardedOptions) => ViewedDefinition | undefined;
  /** The names that the view gives, and back. */
  readonly names: Names;
}

/** A definition in a view. */
export interface ViewedDefinition {
  /** The options that rules follow from. */
  readonly options: GuardedOptions;
  /** Changes the definition, which has its name in the outer server already. */
  readonly reshape: (entry: Guarded, errors: ToolErrors) => Guarded;
}

/** Whether a view hides the resource, or the template, that has a URI. */
export function hidesResource(view: MountView | undefined, registry: Registry, uri: string): boolean {
  const source = view && registry.findResource(uri)?.source;
  return source !== undefined && view?.of('resources', source.uri, source.options) === undefined;
}
