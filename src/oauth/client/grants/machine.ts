import * as oauth from 'oauth4webapi';
import { callEndpoint } from '../hops/endpoint.js';
import { hopError } from '../hops/failures.js';
import {
  type ClientIdentity,
  commonParameters,
  type GrantContext,
  type IssuedTokens,
  requestTokens,
} from './grant.js';

// The grants without a user: client credentials, assertions (RFC 7523), and the exchange of an ID token (RFC 8693).

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

/** Gets tokens for the client itself. */
export function clientCredentialsGrant(
  context: GrantContext,
  identity: ClientIdentity,
): Promise<IssuedTokens> {
  const { metadata } = context.target;
  return requestTokens(context, {
    hop: 'token',
    identity,
    send: (client, options) =>
      oauth.clientCredentialsGrantRequest(
        metadata,
        client,
        identity.authentication.authenticate,
        commonParameters(context),
        options,
      ),
    read: (client, response) => oauth.processClientCredentialsResponse(metadata, client, response),
    secrets: [],
  });
}

/** Gets tokens for an assertion that somebody else has signed. */
export function jwtBearerGrant(
  context: GrantContext,
  identity: ClientIdentity,
  assertion: string,
): Promise<IssuedTokens> {
  const { metadata } = context.target;
  return requestTokens(context, {
    hop: 'token',
    identity,
    send: (client, options) =>
      oauth.genericTokenEndpointRequest(
        metadata,
        client,
        identity.authentication.authenticate,
        JWT_BEARER,
        { ...commonParameters(context), assertion },
        options,
      ),
    read: (client, response) => oauth.processGenericTokenEndpointResponse(metadata, client, response),
    secrets: [assertion],
  });
}

/** An ID token, and the identity provider that exchanges it. */
export interface ExchangeParts {
  readonly identity: ClientIdentity;
  /** The metadata of the identity provider: its issuer and its token endpoint. */
  readonly provider: oauth.AuthorizationServer;
  readonly idToken: string;
}

/** Exchanges an ID token at the identity provider for an assertion that the authorization server of the resource accepts. */
export async function exchangeIdToken(context: GrantContext, parts: ExchangeParts): Promise<string> {
  const { target, scopes } = context;
  const { identity, provider, idToken } = parts;
  const client: oauth.Client = { client_id: identity.clientId };
  const result = await callEndpoint(context, {
    hop: 'token exchange',
    url: provider.token_endpoint,
    send: (options) =>
      oauth.genericTokenEndpointRequest(
        provider,
        client,
        identity.authentication.authenticate,
        TOKEN_EXCHANGE,
        {
          requested_token_type: ID_JAG,
          subject_token: idToken,
          subject_token_type: ID_TOKEN,
          audience: target.issuer,
          resource: target.resource ?? target.server,
          ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        },
        options,
      ),
    read: (response) =>
      oauth.processGenericTokenEndpointResponse(provider, client, response, {
        // RFC 8693, 2.2.1: the type of a token that is not an access token.
        recognizedTokenTypes: { n_a: () => {} },
      }),
    secrets: [idToken, identity.secret],
  });
  if (result['issued_token_type'] === ID_JAG) return result.access_token;
  throw hopError(
    `The identity provider issued a token of type ${JSON.stringify(result['issued_token_type'])} instead of ${ID_JAG}.`,
    { hop: 'token exchange', url: provider.token_endpoint },
  );
}
