// A definition with changes, which are made when it is compiled.

import { isTemplate, parseTemplate } from '../../../protocol/uri-template/template.js';
import type { Guarded } from '../../access/views.js';
import type { Composed } from '../../catalog/compile.js';
import type { CompiledTemplate } from '../../catalog/resources.js';
import type { ViewedDefinition } from '../view.js';
import { withTags } from './reshape.js';

/** A definition with changes. `isHidden` says whether a URI belongs to a hidden resource. */
export function changeDefinition(
  definition: object,
  { options, reshape }: ViewedDefinition,
  isHidden: ((uri: string) => boolean) | undefined,
): object {
  const composed: Composed<Guarded> = {
    '~compile'(compile, parts) {
      const { options: own = {} } = definition as { readonly options?: object };
      const entry = reshape(compile({ ...definition, options: withTags(own, parts) }), parts);
      const { isHidden: hides } = entry as Partial<CompiledTemplate>;
      // The definition may have been changed before.
      return isHidden !== undefined && 'template' in entry
        ? { ...entry, isHidden: (uri: string) => isHidden(uri) || hides?.(uri) === true }
        : entry;
    },
  };
  return { ...definition, options, ...composed };
}

interface Shown {
  readonly name: string;
  readonly shown: ViewedDefinition | undefined;
}

/**
 * The URIs that a template must not read although it matches them, because a hidden resource has them: in the definitions as they were,
 * fixed URIs come first, and then the templates in their order.
 */
export function hiddenUris(all: readonly Shown[], at: number): ((uri: string) => boolean) | undefined {
  const hidden = all.filter(
    ({ name, shown }, index) => shown === undefined && (index < at || !isTemplate(name)),
  );
  if (hidden.length === 0) return undefined;
  const fixed = new Set(hidden.flatMap(({ name }) => (isTemplate(name) ? [] : [name])));
  const templates = hidden.flatMap(({ name }) => (isTemplate(name) ? [parseTemplate(name)] : []));
  return (uri) => fixed.has(uri) || templates.some(({ match }) => match(uri) !== undefined);
}
