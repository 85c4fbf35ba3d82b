import type { JsonObject } from '../../../jsonrpc/message.js';
import { readScopes } from '../../documents/scopes.js';
import type { ProxyClient } from '../clients/client.js';
import { isRegisteredRedirect } from '../clients/redirect-uris.js';
import { OAuthError } from '../tokens/oauth-error.js';
import type { ProxyParts } from './parts.js';

/** A checked request for authorization. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly challenge: string;
  readonly scopes: readonly string[];
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MAX_STATE = 4096;

/** The redirect URI of a request. Until it is known to be the client's, errors must be shown here and not sent there. */
export function redirectUriOf(parameters: ReadonlyMap<string, string>, client: ProxyClient): string {
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) throw new OAuthError('invalid_request', 'The request has no redirect_uri.');
  if (!isRegisteredRedirect(client.redirectUris, redirectUri))
    throw new OAuthError(
      'invalid_request',
      'The redirect_uri of the request is not registered for the client.',
    );
  return redirectUri;
}

/** Checks the rest of a request. */
export function readAuthorizationRequest(
  parameters: ReadonlyMap<string, string>,
  { clientId, redirectUri }: Pick<AuthorizationRequest, 'clientId' | 'redirectUri'>,
  parts: Pick<ProxyParts, 'addresses' | 'scopes' | 'defaultScopes'>,
): AuthorizationRequest {
  const refuse = (message: string): OAuthError => new OAuthError('invalid_request', message);
  if (parameters.has('request') || parameters.has('request_uri'))
    throw refuse('Request objects are not supported.');
  if (parameters.get('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be "code".');
  if ((parameters.get('response_mode') ?? 'query') !== 'query')
    throw refuse('response_mode must be "query".');
  const challenge = parameters.get('code_challenge');
  if (challenge === undefined) throw refuse('PKCE is required: code_challenge is missing.');
  // Without a method, the challenge would be the verifier itself.
  if (parameters.get('code_challenge_method') !== 'S256')
    throw refuse('code_challenge_method must be "S256".');
  if (!CHALLENGE.test(challenge)) throw refuse('code_challenge must be a SHA-256 digest in base64url.');
  const state = parameters.get('state');
  if (state !== undefined && state.length > MAX_STATE)
    throw refuse(`state has more than ${MAX_STATE} characters.`);
  checkResource(parameters.get('resource'), parts.addresses.resource);
  return { clientId, redirectUri, state, challenge, scopes: grantableScopes(parameters.get('scope'), parts) };
}

/** Throws unless the token is to be for this server. Without a resource, it is. */
export function checkResource(resource: string | undefined, own: string): void {
  if (resource === undefined || resource === own || resource === `${own}/` || `${resource}/` === own) return;
  throw new OAuthError(
    'invalid_target',
    `resource must be ${own}, the URL of this MCP server. Connect to it by that URL.`,
  );
}

/** The supported scopes among those that a request names; those of the options if it names none of them. */
function grantableScopes(
  scope: string | undefined,
  { scopes, defaultScopes }: Pick<ProxyParts, 'scopes' | 'defaultScopes'>,
): readonly string[] {
  const wanted = readScopes((scope ?? '').split(' ')).filter((one) => scopes.has(one));
  return wanted.length === 0 ? defaultScopes : wanted;
}

/** The request of a sealed form or record, which only the proxy can have made. */
export function requestFromJson(json: JsonObject): AuthorizationRequest {
  const { clientId, redirectUri, challenge, scopes } = json as unknown as AuthorizationRequest;
  const { state } = json;
  return { clientId, redirectUri, challenge, scopes, state: typeof state === 'string' ? state : undefined };
}

/** The request as JSON. */
export function requestToJson(request: AuthorizationRequest): JsonObject {
  return JSON.parse(JSON.stringify(request)) as JsonObject;
}
