import type { CatalogDefinitions } from '../../../extensions/catalog/live-catalog.js';
import { isObject } from '../../../jsonrpc/message.js';

const kinds = ['tools', 'resources', 'prompts'] as const;

/**
 * The definitions that a module exports: tools and prompts by the names of their exports, the default one by that of the file, and the
 * objects `tools`, `resources` and `prompts`. Throws if there are none.
 */
export function definitionsOf(fileName: string, module: object): CatalogDefinitions {
  const found = { tools: [], resources: [], prompts: [] } as Record<
    (typeof kinds)[number],
    [string, unknown][]
  >;
  for (const [key, value] of Object.entries(module)) {
    const group = kinds.find((kind) => kind === key);
    const kind = kindOf(value);
    if (group !== undefined && kind === undefined && isObject(value))
      found[group].push(...Object.entries(value));
    else if (kind === 'resource')
      throw new TypeError(
        `a resource needs its URI: export const resources = { 'config://app': resource({ … }) }`,
      );
    else if (kind !== undefined) found[`${kind}s`].push([key === 'default' ? fileName : key, value]);
  }
  if (kinds.every((kind) => found[kind].length === 0))
    throw new TypeError(
      'it exports no definitions. Export a tool or a prompt, or { tools, resources, prompts }. The name of a file for other things begins with "_".',
    );
  return {
    tools: Object.fromEntries(found.tools) as never,
    resources: Object.fromEntries(found.resources) as never,
    prompts: Object.fromEntries(found.prompts) as never,
  };
}

function kindOf(value: unknown): 'tool' | 'resource' | 'prompt' | undefined {
  const kind = isObject(value) ? value['kind'] : undefined;
  return kind === 'tool' || kind === 'resource' || kind === 'prompt' ? kind : undefined;
}
