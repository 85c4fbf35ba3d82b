import {
  type AuthorizationServer,
  discoverAuthorizationServer,
  requireS256,
} from '../../documents/authorization-server.js';
import type { DocumentOptions } from '../../documents/document-options.js';
import type { UpstreamProvider } from './provider.js';
import { toUpstreamError, UpstreamError } from './upstream-error.js';

const MAX_AGE_MS = 60 * 60 * 1000;
const RETRY_MS = 5000;

/**
 * Reads the metadata of a provider: at its first use, and again after an hour. If it cannot be read again, the last one stays in
 * use. After a failure, the provider is left alone for 5 s.
 */
export function upstreamMetadata(
  provider: UpstreamProvider,
  options: DocumentOptions,
): () => Promise<AuthorizationServer> {
  let last: AuthorizationServer | undefined;
  let current: { readonly metadata: Promise<AuthorizationServer>; readonly until: number } | undefined;
  const load = async (): Promise<AuthorizationServer> => {
    try {
      last = await discover(provider, options);
      return last;
    } catch (error) {
      current = current && { ...current, until: performance.now() + RETRY_MS };
      if (last !== undefined) return last;
      throw toUpstreamError(error, 'its metadata');
    }
  };
  return async function metadata() {
    if (current === undefined || performance.now() >= current.until)
      current = { until: performance.now() + MAX_AGE_MS, metadata: load() };
    return current.metadata;
  };
}

async function discover(provider: UpstreamProvider, options: DocumentOptions): Promise<AuthorizationServer> {
  const { issuer, endpoints, exceptions, pkce = true } = provider;
  if (endpoints !== undefined)
    return {
      issuer,
      authorization_endpoint: endpoints.authorization,
      token_endpoint: endpoints.token,
      ...(endpoints.revocation !== undefined && { revocation_endpoint: endpoints.revocation }),
      ...(endpoints.userinfo !== undefined && { userinfo_endpoint: endpoints.userinfo }),
      ...(endpoints.jwks !== undefined && { jwks_uri: endpoints.jwks }),
    };
  const needsKeys = provider.scopes.includes('openid');
  const server = await discoverAuthorizationServer(issuer, { ...exceptions, ...options, needsKeys });
  if (pkce) requireS256(server, exceptions);
  for (const name of ['authorization_endpoint', 'token_endpoint'] as const)
    if (server[name] === undefined) throw new UpstreamError(`The metadata of ${issuer} has no ${name}.`);
  return server;
}
