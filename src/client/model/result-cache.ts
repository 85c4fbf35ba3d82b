import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';

// Spec 2026-07-28, Caching.

/** The entries that a notification makes stale. */
export type Stale =
  | {
      /** All results of this method. */
      readonly method: string;
    }
  | {
      /** The contents of this resource. */
      readonly uri: string;
    };

/** The limits of a `ResultCache`. */
export interface ResultCacheOptions {
  /** The number of results to keep; beyond it, the least recently used is dropped. Default: 1000. */
  readonly maxEntries?: number;
  /**
   * The size of all results together, as JSON; beyond it, the least recently used are dropped. A result larger than a quarter
   * of it is not cached. Default: 32 MB.
   */
  readonly maxBytes?: number;
}

interface Entry {
  readonly outcome: Outcome;
  readonly until: number;
  readonly bytes: number;
  readonly method: string;
  readonly uri: unknown;
}

const cacheable = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/**
 * A cache for lists and resources, each kept for as long as its server allows. Clients may share one: only results that the
 * server declares public pass from one client to another.
 */
export class ResultCache {
  // Oldest first: what is used goes to the end.
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #generation = 0;

  constructor({ maxEntries = 1000, maxBytes = 32 * 1024 * 1024 }: ResultCacheOptions = {}) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  /** A number that grows whenever something becomes stale; a result that was requested before then is not cached. */
  get generation(): number {
    return this.#generation;
  }

  /** The result under this key; undefined when there is none or its time is over. */
  get(key: string): Outcome | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#drop(key, entry);
    if (entry.until <= Date.now()) return undefined;
    this.#keep(key, entry);
    return entry.outcome;
  }

  /** Caches a result for its `ttlMs`; ignored when it has none. */
  set(key: string, { method, params }: Call, outcome: Outcome): void {
    const { ttlMs } = outcome;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const bytes = JSON.stringify(outcome).length;
    if (bytes > this.#maxBytes / 4) return;
    const earlier = this.#entries.get(key);
    if (earlier !== undefined) this.#drop(key, earlier);
    this.#keep(key, { outcome, until: Date.now() + ttlMs, bytes, method, uri: params['uri'] });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest, entry);
    }
  }

  /** Drops the results that a notification of this server made stale. */
  invalidate(server: string, stale: Stale): void {
    this.#generation++;
    for (const [key, entry] of this.#entries) {
      const hit = 'uri' in stale ? entry.uri === stale.uri : entry.method === stale.method;
      if (hit && key.startsWith(`${server}\n`)) this.#drop(key, entry);
    }
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.delete(key)) this.#bytes -= entry.bytes;
  }
}

export interface CachingParts {
  readonly cache: ResultCache;
  /** What tells the server from others. */
  readonly server: string;
  /** A private result is this client's own. */
  readonly own: string;
}

/** Answers from the cache what is fresh there; with `renew`, only puts there what the server says now. */
export function caching(
  { cache, server, own }: CachingParts,
  { renew }: { readonly renew: boolean },
): Middleware {
  async function cached(call: Call, next: Dispatch): Promise<Outcome> {
    const said = fingerprint(call);
    const [shared, mine] = [`${server}\n*\n${said}`, `${server}\n${own}\n${said}`];
    const known = renew ? undefined : (cache.get(mine) ?? cache.get(shared));
    if (known !== undefined) return known;
    const { generation } = cache;
    const outcome = await next(call);
    if (cache.generation !== generation || outcome.resultType !== 'complete') return outcome;
    // What depended on answers is not what the next caller would get.
    if ('inputResponses' in call.params || 'requestState' in call.params) return outcome;
    cache.set(outcome['cacheScope'] === 'public' ? shared : mine, call, outcome);
    return outcome;
  }
  return function caching(call, next) {
    return cacheable.has(call.method) ? cached(call, next) : next(call);
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

/** What a notification says is no longer as it was. */
export function staleBy(method: string, params: JsonObject | undefined): readonly Stale[] {
  switch (method) {
    case 'notifications/tools/list_changed':
      return [{ method: 'tools/list' }];
    case 'notifications/prompts/list_changed':
      return [{ method: 'prompts/list' }];
    case 'notifications/resources/list_changed':
      return [{ method: 'resources/list' }, { method: 'resources/templates/list' }];
    case 'notifications/resources/updated':
      return typeof params?.['uri'] === 'string' ? [{ uri: params['uri'] }] : [];
    default:
      return [];
  }
}
