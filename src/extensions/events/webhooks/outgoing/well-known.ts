// The page on which an origin names the paths that accept webhooks.

import { ExpiringMap } from '../../../../async/expiring-map.js';
import { isObject } from '../../../../jsonrpc/message.js';
import type { SafeFetch } from '../../../../oauth/fetch/safe-fetch.js';
import { RECEIVERS_PATH } from '../../../../protocol/events/wire.js';

const KNOWN_MS = 600_000;
const UNKNOWN_MS = 60_000;
const MAX_ORIGINS = 1000;
const MAX_BYTES = 16 * 1024;
const TIMEOUT_MS = 5000;
const MAX_RECEIVERS = 100;

/** Reads the pages of origins, and remembers them for a while. */
export class WellKnownReceivers {
  readonly #fetch: SafeFetch;
  readonly #pages = new ExpiringMap<readonly string[]>({ maxEntries: MAX_ORIGINS });

  constructor(fetch: SafeFetch) {
    this.#fetch = fetch;
  }

  /** Whether the origin of a URL says that its path accepts webhooks. */
  async accept(url: string): Promise<boolean> {
    const { origin, pathname, protocol } = new URL(url);
    if (protocol !== 'https:') return false;
    return (await this.#receivers(origin)).some((path) => covers(path, pathname));
  }

  async #receivers(origin: string): Promise<readonly string[]> {
    const known = this.#pages.get(origin);
    if (known !== undefined) return known;
    const page = await this.#read(origin).catch(() => []);
    this.#pages.set(origin, page, page.length > 0 ? KNOWN_MS : UNKNOWN_MS);
    return page;
  }

  async #read(origin: string): Promise<readonly string[]> {
    const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
    const response = await this.#fetch(`${origin}${RECEIVERS_PATH}`, { redirect: 'manual', ...limits });
    const page: unknown = response.ok ? await response.json() : undefined;
    const receivers = isObject(page) && Array.isArray(page['receivers']) ? page['receivers'] : [];
    return receivers
      .slice(0, MAX_RECEIVERS)
      .filter((path): path is string => typeof path === 'string' && path.startsWith('/'));
  }
}

/** A path with a slash at its end covers everything below it; any other one covers itself. */
function covers(path: string, pathname: string): boolean {
  return path.endsWith('/') ? pathname.startsWith(path) : pathname === path;
}
