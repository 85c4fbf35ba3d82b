import type { JsonObject } from '../../../jsonrpc/message.js';
import { ASSERTION_ALGORITHMS } from '../clients/authentication.js';
import { type Addresses, endpointUrl } from './parts.js';

/** The parts of the proxy that clients must know about. */
interface MetadataFacts {
  readonly addresses: Addresses;
  readonly scopes: readonly string[];
  readonly hasDocuments: boolean;
  readonly hasRegistration: boolean;
  /** Whether a known client has a secret. */
  readonly hasSecrets: boolean;
}

/** The metadata of the authorization server (RFC 8414). */
export function metadataOf(facts: MetadataFacts): JsonObject {
  const { addresses, scopes, hasDocuments, hasRegistration, hasSecrets } = facts;
  const methods = [
    'none',
    ...(hasDocuments ? ['private_key_jwt'] : []),
    ...(hasSecrets ? ['client_secret_basic', 'client_secret_post'] : []),
  ];
  const endpoint = (name: string): string => endpointUrl(addresses, name);
  const algorithms = hasDocuments ? [...ASSERTION_ALGORITHMS] : undefined;
  return {
    issuer: addresses.issuer,
    authorization_endpoint: endpoint('authorize'),
    token_endpoint: endpoint('token'),
    revocation_endpoint: endpoint('revoke'),
    ...(hasRegistration && { registration_endpoint: endpoint('register') }),
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    ...(algorithms !== undefined && {
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    }),
    client_id_metadata_document_supported: hasDocuments,
    authorization_response_iss_parameter_supported: true,
    protected_resources: [addresses.resource],
  };
}
