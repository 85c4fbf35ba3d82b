const MIN_CACHE_MS = 30_000;
const MAX_CACHE_MS = 24 * 60 * 60 * 1000;
const DEFAULT_CACHE_MS = 5 * 60 * 1000;

/**
 * How long a document may be cached: `max-age` less `Age`, between 30 s and a day, or else 5 min. The lower bound keeps a client
 * from making the server fetch its document for every request.
 */
export function cacheMsOf(headers: Headers): number {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(',');
  if (directives.some((one) => /^\s*no-(?:store|cache)\b/.test(one))) return MIN_CACHE_MS;
  const [maxAge] = directives.flatMap((one) => {
    const found = /^\s*max-age="?(\d{1,10})\b/.exec(one);
    return found === null ? [] : [Number(found[1])];
  });
  if (maxAge === undefined) return DEFAULT_CACHE_MS;
  const age = Number(headers.get('age') ?? 0);
  const restMs = (maxAge - (age > 0 ? age : 0)) * 1000;
  return Math.min(Math.max(restMs, MIN_CACHE_MS), MAX_CACHE_MS);
}
