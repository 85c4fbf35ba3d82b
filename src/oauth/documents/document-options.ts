import type { UrlPolicy } from '../fetch/check-url.js';
import { readPrivateHosts } from '../fetch/private-hosts.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';

/** The URLs in a peer's document that may be used. */
export interface ReadingOptions {
  /** Whether URLs on this computer may be used, even with http. See `SafeFetchInit.loopback`. Default: `refuse`. */
  readonly loopback?: 'allow' | 'refuse' | undefined;
  /** The hosts that the operator named, as for the hardened fetch. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
}

/** How a peer's document is fetched. */
export interface DocumentOptions extends ReadingOptions {
  readonly fetch: SafeFetch;
  readonly signal?: AbortSignal | undefined;
}

/** The policy for the URLs in a document. */
export function policyOf({ loopback, privateHosts }: ReadingOptions): UrlPolicy {
  return { loopback: loopback === 'allow', privateHosts: readPrivateHosts(privateHosts) };
}
