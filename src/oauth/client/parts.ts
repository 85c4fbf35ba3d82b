import type { UrlPolicy } from '../fetch/check-url.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import type { IssuerOptions } from './discovery.js';
import type { Grant } from './grants/grant.js';
import type { Emit } from './hops/endpoint.js';
import type { TokenStore } from './store/token-store.js';

// The parts that everything about one client's authorization needs.

/** How requests about one MCP server are sent. */
export interface ServerRequests {
  readonly fetch: SafeFetch;
  readonly policy: UrlPolicy;
  readonly loopback: 'allow' | 'refuse';
  readonly privateHosts: readonly string[];
}

export interface AccessParts {
  readonly store: TokenStore;
  readonly grant: Grant;
  readonly dpop: boolean;
  readonly wantedScopes: readonly string[];
  readonly issuers: Readonly<Record<string, IssuerOptions>>;
  /** Issuers at which the client is registered by hand. */
  readonly preferredIssuers: readonly string[];
  readonly emit: Emit;
  readonly requestsFor: (server: string) => ServerRequests;
}
