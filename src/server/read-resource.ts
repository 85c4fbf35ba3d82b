import type { ResourceContents } from '../protocol/content.js';
import { McpError } from '../protocol/errors.js';
import type { CacheScope } from '../protocol/model.js';
import type { Context } from './context.js';
import type { TemplateValues } from './define.js';
import type { Registry } from './registry.js';
import { type CompiledResource, type CompiledTemplate, toContents } from './resources.js';
import { ToolError } from './tool-error.js';

export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

type WithUri = { readonly uri: string };

/** Finds the resource, or the first template that matches, and reads it. */
export async function readResource(
  registry: Registry,
  uri: string,
  makeContext: (extra: WithUri) => Promise<Context & WithUri>,
): Promise<ReadResult> {
  const found = findResource(registry, uri);
  if (found === undefined) throw notFound(uri);
  const { source, values } = found;
  try {
    const value = await source.read(values, await makeContext({ uri }));
    const contents = toContents(value, uri, source.mimeType);
    if (contents === undefined) throw notFound(uri);
    return { contents, ttlMs: source.ttlMs, cacheScope: source.cacheScope };
  } catch (error) {
    throw ToolError.is(error) ? new McpError('internal_error', error.message, { cause: error }) : error;
  }
}

const noValues: TemplateValues = Object.freeze({});

function findResource(
  registry: Registry,
  uri: string,
): { readonly source: CompiledResource | CompiledTemplate; readonly values: TemplateValues } | undefined {
  const exact = registry.resources.get(uri);
  if (exact !== undefined) return { source: exact, values: noValues };
  for (const source of registry.templates.values()) {
    const values = source.template.match(uri);
    if (values !== undefined) return { source, values: values as TemplateValues };
  }
  return undefined;
}

function notFound(uri: string): McpError {
  return new McpError('resource_not_found', `Resource not found: ${uri.slice(0, 256)}`, { data: { uri } });
}
