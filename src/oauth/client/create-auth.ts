import { BoundedMap } from '../../async/bounded-map.js';
import type { FilledOptions } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import type { ClientAuth } from '../../protocol/model/client-auth.js';
import { isLoopbackUrl } from '../fetch/check-url.js';
import { readPrivateHosts } from '../fetch/private-hosts.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import type { IssuerOptions } from './discovery.js';
import type { Grant } from './grants/grant.js';
import type { EventOf } from './hops/endpoint.js';
import type { OAuthEvent } from './hops/events.js';
import type { ServerRequests } from './parts.js';
import { ResourceAccess } from './resource-access.js';
import { guardedStore } from './store/guarded-store.js';
import { memoryTokenStore } from './store/memory-token-store.js';
import { tokensKey } from './store/records.js';
import type { TokenStore } from './store/token-store.js';
import type { UserAgent } from './user-agent.js';

// A `ClientAuth` from a grant: one access per server.

/** The options that every way to authorize a client has. */
export interface AuthorizationOptions {
  /** Where tokens and registrations are kept. Default: in memory, for as long as the object lives. */
  readonly store?: TokenStore | undefined;
  /** Keeps the tokens of several users or programs in one store apart. Default: ''. */
  readonly account?: string | undefined;
  /** Scopes to ask for, besides those that the server asks for. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether to ask for sender-constrained tokens (DPoP), and to refuse others. Default: only where the server demands them. */
  readonly dpop?: boolean | undefined;
  /** Exceptions for authorization servers that do not follow the rules, by issuer. Default: none. */
  readonly issuers?: Readonly<Record<string, IssuerOptions>> | undefined;
  /**
   * Authorization servers on a private network: exact host names, or exact origins. Every MCP server that this client connects to
   * can make it send requests to these hosts. The host of the MCP server itself is always allowed. Default: none.
   */
  readonly privateHosts?: readonly string[] | undefined;
  /** Called with each step, for user interfaces and logs. Default: nothing. */
  readonly onEvent?: ((event: OAuthEvent) => void) | undefined;
  /** Sends the requests to authorization servers. Default: a `fetch` that reaches only public addresses over https. */
  readonly fetch?: SafeFetch | undefined;
}

/** The table of `AuthorizationOptions`. */
export const authorizationTable = {
  store: 'object',
  account: { is: 'string', default: '' },
  scopes: { is: 'strings', default: [] },
  dpop: { is: 'boolean', default: false },
  issuers: { is: 'object', default: {} },
  privateHosts: { is: 'strings', default: [] },
  onEvent: 'function',
  fetch: 'function',
} as const;

/** The options of every way to authorize a client, with their defaults. */
export type AuthorizationSettings = FilledOptions<AuthorizationOptions, typeof authorizationTable>;

/** The abilities of a runtime that an authorization needs. */
export interface OAuthRuntime {
  readonly safeFetch: (options: { readonly privateHosts: readonly string[] }) => SafeFetch;
  /** The system's browser, with a redirect to this computer; undefined where there is none. */
  readonly browser?: ((options: BrowserOptions) => UserAgent) | undefined;
}

/** How the system's browser is used. */
export interface BrowserOptions {
  readonly redirectUri: string | undefined;
  readonly open: ((url: string) => unknown) | undefined;
  /** The name of the program, for the last page. */
  readonly name: string;
}

export interface AuthParts {
  readonly options: AuthorizationSettings;
  readonly runtime: OAuthRuntime;
  readonly store: TokenStore;
  readonly grant: Grant;
  /** The beginning of the keys in the store. */
  readonly kind: string;
  readonly preferredIssuers?: readonly string[];
}

/** The store of the options, or one in memory. */
export function storeOf({ store }: AuthorizationSettings): TokenStore {
  return store === undefined ? memoryTokenStore() : guardedStore(store);
}

/** The key prefix of a grant and an account. */
export function accountOf(kind: string, { account }: AuthorizationSettings): string {
  return account === '' ? kind : `${kind}/${encodeURIComponent(account)}`;
}

/** An object for the option `auth` of `connect`. */
export interface OAuthClient extends ClientAuth {
  /**
   * Deletes the tokens for an MCP server, and revokes them where its authorization server supports that (RFC 7009). The next
   * request begins with a login. Rejects if the tokens could not be revoked; they are deleted in any case.
   */
  logout(server: string | URL): Promise<void>;
}

const MAX_SERVERS = 1000;

/** Makes the object that `connect` takes as `auth`. */
export function createAuth({
  options,
  runtime,
  store,
  grant,
  kind,
  preferredIssuers = [],
}: AuthParts): OAuthClient {
  const { scopes, dpop, issuers, privateHosts, onEvent } = options;
  const accesses = new BoundedMap<string, ResourceAccess>(MAX_SERVERS);
  const account = accountOf(kind, options);

  function accessTo(server: string): ResourceAccess {
    const known = accesses.get(server);
    if (known !== undefined) return known;
    requireSecure(server);
    const requests = requestsOf(server);
    const access = new ResourceAccess(server, tokensKey(server, account), {
      store,
      grant,
      dpop,
      wantedScopes: scopes,
      issuers,
      preferredIssuers,
      emit: (event: EventOf<OAuthEvent>) => onEvent?.({ ...event, server } as OAuthEvent),
      requestsFor: () => requests,
    });
    accesses.set(server, access);
    return access;
  }

  function requestsOf(server: string): ServerRequests {
    const url = new URL(server);
    const loopback = isLoopbackUrl(url);
    // The user chose the MCP server, wherever it is. It may not choose other private hosts.
    const hosts = loopback ? [...privateHosts] : [...privateHosts, url.origin];
    return {
      fetch: options.fetch ?? runtime.safeFetch({ privateHosts: hosts }),
      policy: { loopback, privateHosts: readPrivateHosts(hosts) },
      loopback: loopback ? 'allow' : 'refuse',
      privateHosts: hosts,
    };
  }

  return {
    headersFor: (request) => accessTo(request.server).headersFor(request),
    onChallenge: (reply, request) => accessTo(request.server).onChallenge(reply, request),
    onReply: (reply, request) => accessTo(request.server).onReply(reply, request),
    logout: async (server) => accessTo(serverOf(server)).logout(),
  };
}

/** The URL that the transports know a server by. */
function serverOf(server: string | URL): string {
  const url = new URL(server);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href.replace(/^ws/, 'http');
}

/** A token must not be sent where anyone on the way can read it. */
function requireSecure(server: string): void {
  const url = new URL(server);
  if (url.protocol === 'https:' || isLoopbackUrl(url)) return;
  throw new McpError(
    'invalid_request',
    `${url.origin} uses http, so that anyone on the way could read the tokens. Connect over https.`,
  );
}
