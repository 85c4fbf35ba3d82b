// The entry `fullmcp/catalog`: definitions that come from anywhere, and change while the server runs.

import type { FolderOptions } from './adapters/node/catalog/folder.js';
import { type AddedCatalog, addLiveCatalog, type CatalogSource } from './extensions/catalog/live-catalog.js';
import type { Mountable } from './server/define/options.js';

export type { FolderOptions } from './adapters/node/catalog/folder.js';
export type { AddedCatalog, CatalogDefinitions, CatalogSource } from './extensions/catalog/live-catalog.js';

/**
 * Adds the definitions of a source to a server, now and whenever they change. Rejects with a `DefinitionError` if they have mistakes;
 * later mistakes are logged, and what failed stays as it was.
 *
 * @example
 * await addCatalog(server, {
 *   load: async () => ({ prompts: await promptsFrom(database) }),
 *   watch: (onChange) => database.listen('prompts', onChange),
 * });
 */
export function addCatalog(server: Mountable, source: CatalogSource): Promise<AddedCatalog> {
  return addLiveCatalog(server, source);
}

/**
 * The tools, resources and prompts in the modules of a folder, as a source for `addCatalog`. Needs Node. `.ts` files need a version of
 * Node that runs them.
 *
 * @example
 * await addCatalog(server, await folder('./components', { watchMs: 500 }));
 */
export async function folder(path: string | URL, options: FolderOptions = {}): Promise<CatalogSource> {
  const { moduleFolder } = await import('./adapters/node/catalog/folder.js');
  return moduleFolder(path, options);
}
