import type { ResourceContents } from '../../protocol/model/content.js';
import type { CacheScope } from '../../protocol/model/model.js';
import { notFound } from '../../protocol/not-found.js';
import { readEvents } from '../../protocol/telemetry/tracing.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import type { ResourceMatch } from '../catalog/registry.js';
import type { CallContext } from '../context/call-context.js';
import { toContents } from '../results/contents.js';

/** The result of `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** Reads a resource that was found. */
export function readResource(
  match: ResourceMatch,
  ctx: CallContext<never, never>,
): Promise<ReadResourceResult | InputRequired> {
  return readEvents?.hasSubscribers
    ? readEvents.tracePromise(() => read(match, ctx), { uri: match.uri })
    : read(match, ctx);
}

async function read(
  { uri, source, values }: ResourceMatch,
  ctx: CallContext<never, never>,
): Promise<ReadResourceResult | InputRequired> {
  const value = await source.read(values, Object.assign(ctx, { uri }));
  if (isInputRequired(value)) return value;
  const contents = toContents(value, { uri, mimeType: source.mimeType });
  if (contents === undefined) throw notFound('resource', uri);
  return { contents, ttlMs: source.ttlMs ?? 0, cacheScope: source.cacheScope };
}
