import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { isCacheable, staleMethods } from '../../protocol/tables/methods.js';
import type { ResultCache, Stale } from '../model/result-cache.js';

// Middleware that caches results for as long as the server allows. Spec 2026-07-28, Caching.

export interface CachingParts {
  readonly cache: ResultCache;
  /** A key that no other server has. */
  readonly serverKey: string;
  /** A key that no other client has, for private results. */
  readonly clientKey: string;
}

/** Returns a cached result while it is fresh. With `renew`, asks the server and replaces the cached result. */
export function caching(
  { cache, serverKey, clientKey }: CachingParts,
  { renew }: { readonly renew: boolean },
): Middleware {
  async function dispatchCached(call: Call, next: Dispatch): Promise<Outcome> {
    const callKey = fingerprint(call);
    const [everybody, own] = [`${serverKey}\n*\n`, `${serverKey}\n${clientKey}\n`];
    const [shared, personal] = [everybody + callKey, own + callKey];
    const hit = renew ? undefined : (cache.get(personal) ?? cache.get(shared));
    if (hit !== undefined) return hit;
    const { generation } = cache;
    const outcome = await next(call);
    if (cache.generation !== generation || outcome.resultType !== 'complete') return outcome;
    // A result that depends on the user's answers must not be returned to another caller.
    if ('inputResponses' in call.params || 'requestState' in call.params) return outcome;
    const isPublic = outcome['cacheScope'] === 'public';
    const first =
      'cursor' in call.params ? (isPublic ? everybody : own) + fingerprint(call, 'cursor') : undefined;
    cache.set(isPublic ? shared : personal, call, outcome, first);
    return outcome;
  }
  return function caching(call, next) {
    return isCacheable(call.method) ? dispatchCached(call, next) : next(call);
  };
}

/** A unique string. Pages that were loaded without TLS have random bytes, but not `randomUUID`. */
export function uniqueKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** The method and the parameters, without `_meta`, which describes the client, and without the parameter `except`. */
function fingerprint({ method, params }: Call, except?: string): string {
  const sorted: JsonObject = {};
  for (const key of Object.keys(params).sort())
    if (key !== '_meta' && key !== except) sorted[key] = params[key];
  return `${method} ${JSON.stringify(sorted)}`;
}

/** The cached results that a notification makes stale. */
export function staleBy(method: string, params: JsonObject | undefined): readonly Stale[] {
  if (method === 'notifications/resources/updated')
    return typeof params?.['uri'] === 'string' ? [{ uri: params['uri'] }] : [];
  return staleMethods(method).map((stale) => ({ method: stale }));
}
