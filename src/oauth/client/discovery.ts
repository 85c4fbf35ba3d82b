import type { AuthorizationServer } from 'oauth4webapi';
import { McpError } from '../../protocol/errors.js';
import { displayUrl } from '../../protocol/secrets/display-url.js';
import { discoverAuthorizationServer, type IssuerExceptions } from '../documents/authorization-server.js';
import { DocumentError } from '../documents/document-error.js';
import { discoverProtectedResource, type ProtectedResource } from '../documents/protected-resource.js';
import type { ResourceChallenge } from '../documents/resource-challenge.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import type { AuthorizationTarget } from './grants/grant.js';
import type { Emit } from './hops/endpoint.js';
import type { OAuthHop } from './hops/events.js';
import { hopError } from './hops/failures.js';

// From an MCP server to the metadata of its authorization server.

/** The exceptions for one authorization server that does not follow the rules. */
export interface IssuerOptions extends IssuerExceptions {
  /** Whether to send the `resource` that the tokens are for. Entra ID refuses it. Default: true. */
  readonly sendResource?: boolean | undefined;
  /** More parameters for its authorization endpoint, such as `audience`, or another `prompt`. Default: none. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** The endpoints of a server that publishes no metadata, which is then not looked for. Default: those of its metadata. */
  readonly endpoints?: IssuerEndpoints | undefined;
}

/** The endpoints of an authorization server without metadata. */
type IssuerEndpoints = {
  /** The URL at which users log in. */
  readonly authorization: string;
  /** The URL that issues tokens. */
  readonly token: string;
  /** The URL that issues codes for a login on another device. Default: there is none. */
  readonly deviceAuthorization?: string | undefined;
  /** The URL that revokes tokens. Default: there is none. */
  readonly revocation?: string | undefined;
  /** How a client with a secret authenticates at the token endpoint. Default: `client_secret_basic`. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post' | undefined;
};

export interface DiscoveryParts {
  readonly fetch: SafeFetch;
  readonly loopback: 'allow' | 'refuse';
  readonly privateHosts: readonly string[];
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly issuers: Readonly<Record<string, IssuerOptions>>;
  /** Chooses among several issuers. */
  readonly choose: (issuers: readonly string[]) => string;
}

export interface DiscoveredTarget extends AuthorizationTarget {
  readonly requiresDpop: boolean;
}

/** Finds the authorization server of an MCP server that has sent a challenge. */
export async function discoverTarget(
  server: string,
  challenge: ResourceChallenge,
  parts: DiscoveryParts,
): Promise<DiscoveredTarget> {
  const resource = await findResource(server, challenge, parts);
  if (resource === undefined) return findByOrigin(server, parts);
  const issuer = parts.choose(resource.authorizationServers);
  return targetOf(server, { issuer, resource: resource.resource }, parts, resource);
}

/** The authorization server of tokens that are stored already. */
export async function knownTarget(
  server: string,
  { issuer, resource }: { readonly issuer: string; readonly resource: string | undefined },
  parts: DiscoveryParts,
): Promise<DiscoveredTarget> {
  return resource === undefined && issuer === new URL(server).origin
    ? findByOrigin(server, parts)
    : targetOf(server, { issuer, resource }, parts);
}

async function targetOf(
  server: string,
  { issuer, resource }: { readonly issuer: string; readonly resource: string | undefined },
  parts: DiscoveryParts,
  document?: ProtectedResource,
): Promise<DiscoveredTarget> {
  const { sendResource = true, endpoints, ...exceptions } = exceptionsOf(parts.issuers, issuer);
  const metadata =
    endpoints === undefined
      ? await reading('authorization server metadata', () =>
          discoverAuthorizationServer(issuer, {
            ...traced(parts, 'authorization server metadata'),
            ...exceptions,
          }),
        )
      : metadataOf(issuer, endpoints);
  parts.emit({ type: 'authorization server', issuer });
  return {
    server,
    issuer,
    metadata: metadata as AuthorizationServer,
    resource: sendResource ? resource : undefined,
    resourceScopes: document?.scopesSupported ?? [],
    requiresDpop: document?.requiresDpop ?? false,
  };
}

function metadataOf(issuer: string, endpoints: IssuerEndpoints): AuthorizationServer {
  const { authorization, token, deviceAuthorization, revocation, authentication } = endpoints;
  return {
    issuer,
    authorization_endpoint: authorization,
    token_endpoint: token,
    ...(deviceAuthorization !== undefined && { device_authorization_endpoint: deviceAuthorization }),
    ...(revocation !== undefined && { revocation_endpoint: revocation }),
    ...(authentication !== undefined && { token_endpoint_auth_methods_supported: [authentication] }),
  };
}

/** The exceptions for an issuer. */
export function exceptionsOf(issuers: DiscoveryParts['issuers'], issuer: string): IssuerOptions {
  return Object.hasOwn(issuers, issuer) ? (issuers[issuer] ?? {}) : {};
}

async function findResource(
  server: string,
  { resourceMetadata }: ResourceChallenge,
  parts: DiscoveryParts,
): Promise<ProtectedResource | undefined> {
  return reading('resource metadata', async () => {
    try {
      return await discoverProtectedResource(server, {
        ...traced(parts, 'resource metadata'),
        resourceMetadata,
      });
    } catch (error) {
      const isMissing = error instanceof DocumentError && error.code === 'not_found';
      if (isMissing && resourceMetadata === undefined) return undefined;
      throw error;
    }
  });
}

/**
 * Servers of revision 2025-03-26 have no metadata of the resource: their origin is the authorization server, with default endpoints
 * if it has no metadata either. Spec 2025-03-26, Authorization, Server Metadata Discovery.
 */
async function findByOrigin(server: string, parts: DiscoveryParts): Promise<DiscoveredTarget> {
  const { origin } = new URL(server);
  let isAssumed = false;
  const metadata = await reading('authorization server metadata', async () => {
    try {
      return await discoverAuthorizationServer(origin, {
        ...traced(parts, 'authorization server metadata'),
        ...exceptionsOf(parts.issuers, origin),
      });
    } catch (error) {
      if (!(error instanceof DocumentError && error.code === 'not_found')) throw error;
      isAssumed = true;
      return {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        code_challenge_methods_supported: ['S256'],
      };
    }
  });
  parts.emit({ type: 'authorization server', issuer: origin });
  return {
    server,
    issuer: origin,
    metadata: metadata as AuthorizationServer,
    resource: undefined,
    resourceScopes: [],
    requiresDpop: false,
    isAssumed,
  };
}

/** The options of the readers, with a fetch that reports each reply. */
function traced(parts: DiscoveryParts, hop: OAuthHop): Omit<DiscoveryParts, 'emit' | 'issuers' | 'choose'> {
  const { fetch, loopback, privateHosts, signal, emit } = parts;
  return {
    loopback,
    privateHosts,
    signal,
    async fetch(url, init) {
      const response = await fetch(url, init);
      emit({ type: 'reply', hop, url: displayUrl(url), status: response.status });
      return response;
    },
  };
}

/** Reports an unusable document as the failure of a step. */
export async function reading<T>(hop: OAuthHop, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (McpError.is(error) || !(error instanceof DocumentError)) throw error;
    const isMissing = hop === 'authorization server metadata' && error.code === 'not_found';
    const advice = isMissing ? ' If it publishes none, name its `endpoints` in the option `issuers`.' : '';
    throw hopError(`${error.message}${advice}`, { hop, cause: error.cause });
  }
}
