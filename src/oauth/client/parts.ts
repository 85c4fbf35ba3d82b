import type { UrlPolicy } from '../fetch/check-url.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import type { DiscoveryParts, IssuerOptions } from './discovery.js';
import type { Grant, GrantContext } from './grants/grant.js';
import type { Emit } from './hops/endpoint.js';
import type { StoredTokens } from './store/records.js';
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

/** The MCP server that an authorization is for, and the end of the work. */
interface AccessScope {
  readonly server: string;
  readonly signal: AbortSignal;
}

/** The options for finding the authorization server of an MCP server. */
export function discoveryOf(
  parts: AccessParts & AccessScope,
  current: Pick<StoredTokens, 'issuer'> | undefined,
): DiscoveryParts {
  const { server, signal, emit, issuers, preferredIssuers } = parts;
  const preferred = [...preferredIssuers, ...(current === undefined ? [] : [current.issuer])];
  return {
    ...parts.requestsFor(server),
    signal,
    emit,
    issuers,
    choose: (named) => preferred.find((issuer) => named.includes(issuer)) ?? (named[0] as string),
  };
}

/** The options for the requests of a grant. */
export function contextOf(
  { server, signal, emit, requestsFor }: AccessParts & AccessScope,
  target: GrantContext['target'],
  { scopes, dpop }: Pick<GrantContext, 'scopes' | 'dpop'>,
): GrantContext {
  const { fetch, policy } = requestsFor(server);
  return { fetch, policy, signal, emit, target, scopes, dpop };
}
