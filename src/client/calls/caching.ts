import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { isCacheable, madeStaleBy } from '../../protocol/tables/methods.js';
import type { ResultCache, Stale } from '../model/result-cache.js';

export interface CachingParts {
  readonly cache: ResultCache;
  /** What tells the server from others. */
  readonly serverKey: string;
  /** A private result is this client's own. */
  readonly clientKey: string;
}

/** Answers from the cache what is fresh there; with `renew`, only puts there what the server says now. */
export function caching(
  { cache, serverKey, clientKey }: CachingParts,
  { renew }: { readonly renew: boolean },
): Middleware {
  async function dispatchCached(call: Call, next: Dispatch): Promise<Outcome> {
    const callKey = fingerprint(call);
    const [shared, personal] = [`${serverKey}\n*\n${callKey}`, `${serverKey}\n${clientKey}\n${callKey}`];
    const hit = renew ? undefined : (cache.get(personal) ?? cache.get(shared));
    if (hit !== undefined) return hit;
    const { generation } = cache;
    const outcome = await next(call);
    if (cache.generation !== generation || outcome.resultType !== 'complete') return outcome;
    // What depended on answers is not what the next caller would get.
    if ('inputResponses' in call.params || 'requestState' in call.params) return outcome;
    cache.set(outcome['cacheScope'] === 'public' ? shared : personal, call, outcome);
    return outcome;
  }
  return function caching(call, next) {
    return isCacheable(call.method) ? dispatchCached(call, next) : next(call);
  };
}

/** A text that nothing else has. Pages that came without TLS have random bytes, but no `randomUUID`. */
export function uniqueKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Method and parameters, but not what the client says of itself. */
function fingerprint({ method, params }: Call): string {
  const { _meta, ...rest } = params;
  const sorted: JsonObject = {};
  for (const key of Object.keys(rest).sort()) sorted[key] = rest[key];
  return `${method} ${JSON.stringify(sorted)}`;
}

/** The cached results that a notification makes stale. */
export function staleBy(method: string, params: JsonObject | undefined): readonly Stale[] {
  if (method === 'notifications/resources/updated')
    return typeof params?.['uri'] === 'string' ? [{ uri: params['uri'] }] : [];
  return madeStaleBy(method).map((stale) => ({ method: stale }));
}
