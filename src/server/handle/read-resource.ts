import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { CacheScope } from '../../protocol/model/model.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import type { Registry } from '../catalog/registry.js';
import type { CompiledResource, CompiledTemplate } from '../catalog/resources.js';
import type { CallContext } from '../context/call-context.js';
import type { TemplateValues } from '../define/template-values.js';
import { toContents } from '../results/contents.js';

/** The result of `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** Finds the resource, or the first template that matches, and reads it. */
export async function readResource(
  registry: Registry,
  uri: string,
  ctx: CallContext<never, never>,
): Promise<ReadResourceResult | InputRequired> {
  const match = findResource(registry, uri);
  if (match === undefined) throw notFound(uri);
  const { source, values } = match;
  const value = await source.read(values, Object.assign(ctx, { uri }));
  if (isInputRequired(value)) return value;
  const contents = toContents(value, { uri, mimeType: source.mimeType });
  if (contents === undefined) throw notFound(uri);
  return { contents, ttlMs: source.ttlMs, cacheScope: source.cacheScope };
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
  return new McpError('resource_not_found', `Resource not found: ${shorten(uri, 256)}`, {
    data: { uri: uri.slice(0, 2048) },
  });
}
