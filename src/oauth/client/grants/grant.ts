import type * as oauth from 'oauth4webapi';
import type { ClientAuthentication } from '../hops/authentication.js';
import type { DpopKey } from '../hops/dpop-key.js';
import { callEndpoint, type HopOptions, type HopParts } from '../hops/endpoint.js';
import { hopError } from '../hops/failures.js';

// The seam of the grants: each is a way to get tokens for a resource from its authorization server.

/** The authorization server of a resource. */
export interface AuthorizationTarget {
  readonly issuer: string;
  readonly metadata: oauth.AuthorizationServer;
  /** The `resource` to ask tokens for; undefined if none is sent. */
  readonly resource: string | undefined;
  /** The URL of the MCP server. */
  readonly server: string;
  /** The scopes that the metadata of the resource lists. */
  readonly resourceScopes: readonly string[];
  /** Whether nothing names the authorization server, so that its endpoints are those of revision 2025-03-26. Default: false. */
  readonly isAssumed?: boolean | undefined;
}

export interface GrantContext extends HopParts {
  readonly target: AuthorizationTarget;
  /** The scopes to ask for; empty if none are named. */
  readonly scopes: readonly string[];
  readonly dpop: DpopKey | undefined;
}

/** A client as an authorization server knows it. */
export interface ClientIdentity {
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  /** A secret that must not appear in errors. */
  readonly secret?: string | undefined;
}

export interface IssuedTokens {
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly lifetimeMs: number | undefined;
  readonly refreshToken: string | undefined;
  /** The scopes that were granted; undefined if the server does not say. */
  readonly scopes: readonly string[] | undefined;
}

/** A way to get tokens. */
export interface Grant {
  /** Whether it waits for the user. */
  readonly isInteractive: boolean;
  /** Whether a login at an authorization server needs its support of PKCE. */
  readonly needsPkce: (target: AuthorizationTarget) => boolean;
  readonly obtain: (context: GrantContext) => Promise<IssuedTokens>;
  /** The client that stored tokens belong to; undefined if it is no longer known. */
  readonly identityOf: (context: GrantContext, clientId: string) => Promise<ClientIdentity | undefined>;
  /** Forgets the client at an issuer that does not know it any more. */
  readonly forgetClient: (issuer: string) => Promise<void>;
}

/** A request to the token endpoint. */
export interface TokenRequest {
  readonly hop: 'token' | 'refresh';
  readonly identity: ClientIdentity;
  readonly send: (client: oauth.Client, options: HopOptions) => Promise<Response>;
  readonly read: (client: oauth.Client, response: Response) => Promise<oauth.TokenEndpointResponse>;
  readonly secrets: readonly (string | undefined)[];
}

/** Ten years: a server that says more means that its tokens do not expire. */
const MAX_LIFETIME_MS = 10 * 365 * 24 * 60 * 60_000;

/** Asks the token endpoint for tokens. */
export async function requestTokens(context: GrantContext, request: TokenRequest): Promise<IssuedTokens> {
  const { metadata } = context.target;
  const { hop, identity, send, read, secrets } = request;
  const client: oauth.Client = { client_id: identity.clientId };
  const url = metadata.token_endpoint;
  const result = await callEndpoint(context, {
    hop,
    url,
    send: (options) => send(client, options),
    read: (response) => read(client, response),
    secrets: [...secrets, identity.secret],
    dpop: context.dpop,
  });
  if (context.dpop !== undefined && result.token_type !== 'dpop') {
    throw hopError(
      `The authorization server issued a token of type ${JSON.stringify(result.token_type)}, although a sender-constrained one (DPoP) is required.`,
      { hop, url },
    );
  }
  return {
    clientId: identity.clientId,
    accessToken: result.access_token,
    tokenType: result.token_type === 'dpop' ? 'dpop' : 'bearer',
    lifetimeMs:
      result.expires_in === undefined ? undefined : Math.min(result.expires_in * 1000, MAX_LIFETIME_MS),
    refreshToken: result.refresh_token,
    scopes: result.scope?.split(/[ ,]+/).filter((scope) => scope !== ''),
  };
}

/** The parameters that every grant sends. */
export function commonParameters({
  target,
  scopes,
}: Pick<GrantContext, 'target' | 'scopes'>): Record<string, string> {
  return {
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(target.resource !== undefined && { resource: target.resource }),
  };
}
