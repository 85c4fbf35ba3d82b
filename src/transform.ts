// The entry `fullmcp/transform`: changes definitions, and those of mounted servers.

import type { Tool } from './server/define/tool.js';
import {
  type PromptTools,
  promptTools,
  type ResourceTools,
  resourceTools,
} from './server/mount/transform/as-tools.js';
import type { Changes } from './server/mount/transform/changes.js';
import { applyChanges } from './server/mount/transform/transform.js';
import type { ChangesOf, OnlyKnown, Transformed } from './server/mount/transform/types.js';
import { joinVersions, type VersionsOptions } from './server/mount/transform/versions.js';

export type { Tool } from './server/define/tool.js';
export type { PromptTools, ResourceTools } from './server/mount/transform/as-tools.js';
export type {
  ChangedDefinition,
  Changes,
  EventChange,
  PromptChange,
  ResourceChange,
  ToolChange,
} from './server/mount/transform/changes.js';
export type {
  ChangesOf,
  OnlyKnown,
  ToolsIn,
  Transformed,
  TransformedTools,
} from './server/mount/transform/types.js';
export type { VersionsOptions } from './server/mount/transform/versions.js';

/**
 * Changes a server for the one that it is mounted in, or definitions before they are served: renames, hides and describes tools,
 * resources and prompts, changes their arguments, adds rules, and wraps handlers. A hidden definition does not exist: nothing can use
 * it. The source does not change. Throws a `DefinitionError` that names the mistake.
 *
 * @example
 * createServer({
 *   name: 'shop',
 *   version: '1.0.0',
 *   mount: { weather: transform(weather, { tools: { debug: { hidden: true }, forecast: { args: { days: { value: 1 } } } } }) },
 * });
 */
export function transform<const Source extends object, const C extends ChangesOf<Source>>(
  source: Source,
  changes: C & OnlyKnown<C, Source>,
): Transformed<Source, C> {
  return applyChanges(source, changes as Changes) as Transformed<Source, C>;
}

/**
 * Makes one tool of several versions. Every caller sees and calls one of them: the newest, or `current`, unless `choose` gives the
 * caller another one. With `current: 'none'`, they only answer callers with an older list. Versions are numbers with dots or hyphens.
 *
 * @example
 * const search = versions({ '1.0': searchV1, '2.0': searchV2 }, { choose: (auth) => (auth?.claims['beta'] ? '2.0' : '1.0') });
 */
export function versions<V extends Readonly<Record<string, Tool>>>(
  tools: V,
  options: VersionsOptions<keyof V & string> = {},
): V[keyof V] {
  return joinVersions(tools, options as VersionsOptions) as V[keyof V];
}

/**
 * The tools `list_resources` and `read_resource`, for clients that only know tools. They act for the caller on the server that clients
 * connect to, with all its rules, wherever they are mounted.
 *
 * @example
 * createServer({ name: 'docs', version: '1.0.0', resources, tools: { ...tools, ...resourcesAsTools() } });
 */
export function resourcesAsTools(): ResourceTools {
  return resourceTools();
}

/**
 * The tools `list_prompts` and `get_prompt`, for clients that only know tools. They act for the caller on the server that clients
 * connect to, with all its rules, wherever they are mounted.
 *
 * @example
 * createServer({ name: 'docs', version: '1.0.0', prompts, tools: { ...tools, ...promptsAsTools() } });
 */
export function promptsAsTools(): PromptTools {
  return promptTools();
}
