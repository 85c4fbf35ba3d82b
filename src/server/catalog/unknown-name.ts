import type { Caller } from '../../protocol/caller.js';
import type { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { Catalog } from './catalog.js';

/**
 * The error for a name that is not defined, or not for this caller, with the name that was probably meant. Both errors are the same,
 * and neither suggests a name that the caller does not see.
 */
export async function unknownName(
  kind: 'tool' | 'prompt',
  name: string,
  { catalog, caller }: { readonly catalog: Pick<Catalog<never>, 'names'>; readonly caller: Caller },
): Promise<McpError> {
  const names = await catalog.names(caller);
  const closest = closestName(
    name,
    names.filter((other) => other !== name),
  );
  const hint = closest === undefined ? '' : `. Did you mean "${closest}"?`;
  return notFound(kind, name, hint);
}
