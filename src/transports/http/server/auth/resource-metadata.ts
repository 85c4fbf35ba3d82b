import type { ResourceFacts } from '../../../../state/auth-provider.js';
import { type HeaderFields, type Incoming, replyJson } from '../incoming.js';
import { isRequested, refuse } from '../refusal.js';

// The metadata of a protected resource (RFC 9728).

export const DEFAULT_ALGORITHMS: readonly string[] = ['ES256'];

// Anybody may read the metadata: clients need it before they have a token, and web pages are clients, too.
const openToAll: HeaderFields = {
  'access-control-allow-origin': '*',
  'cache-control': 'public, max-age=300',
};

const preflight: HeaderFields = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  // The wildcard does not include this one, which some clients send with every request.
  'access-control-allow-headers': '*, authorization, mcp-protocol-version',
  'access-control-max-age': '86400',
};

/** Replies with the metadata of a resource. */
export async function replyMetadata(
  incoming: Incoming,
  resource: string,
  facts: ResourceFacts,
): Promise<void> {
  const { method } = incoming;
  if (method === 'OPTIONS') return incoming.reply(204, preflight);
  if (method === 'GET') return replyJson(incoming, 200, printMetadata(resource, facts), openToAll);
  if (method === 'HEAD') return incoming.reply(200, { 'content-type': 'application/json', ...openToAll });
  refuse(incoming, 405, `${method} is not served here`, { ...openToAll, allow: 'GET, HEAD, OPTIONS' });
}

function printMetadata(resource: string, facts: ResourceFacts): string {
  const { authorizationServers, scopes, dpop, dpopAlgorithms = DEFAULT_ALGORITHMS } = facts;
  return JSON.stringify({
    resource,
    authorization_servers: authorizationServers,
    ...(scopes !== undefined && { scopes_supported: scopes.filter(isRequested) }),
    bearer_methods_supported: ['header'],
    ...(dpop !== undefined && {
      dpop_signing_alg_values_supported: dpopAlgorithms,
      dpop_bound_access_tokens_required: dpop === 'required',
    }),
  });
}
