import * as oauth from 'oauth4webapi';
import { quote } from '../../protocol/encoding/shorten.js';
import { reading } from '../client/discovery.js';
import { callEndpoint } from '../client/hops/endpoint.js';
import { hopError } from '../client/hops/failures.js';
import { identityOf } from '../client/registration.js';
import { discoverAuthorizationServer } from '../documents/authorization-server.js';
import { policyOf } from '../documents/document-options.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import { loopbackFor } from '../server/keys/load-keys.js';
import { type ExchangeSettings, namesIn } from './exchange-options.js';

// The request that exchanges a token (RFC 8693).

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const METADATA_MS = 3_600_000;
/** Visible ASCII, so that it fits into a header, and no longer than the headers that most servers accept. */
const USABLE = /^[\x21-\x7e]{1,16384}$/;

/** A token of the authorization server for the server behind the proxy. */
export interface IssuedToken {
  readonly token: string;
  /** The time for which it is valid; undefined if the authorization server does not say. */
  readonly lifetimeMs: number | undefined;
}

/** Exchanges the token of a caller. Throws an error of a hop if it cannot be exchanged. */
export type ExchangeRequest = (subjectToken: string, signal: AbortSignal) => Promise<IssuedToken>;

/** Makes the request of the options. */
export function exchangeRequest(
  options: ExchangeSettings,
  { fetch, privateHosts }: { readonly fetch: SafeFetch; readonly privateHosts: readonly string[] },
): ExchangeRequest {
  const { issuer, tokenEndpoint, clientId, clientSecret, authentication } = options;
  const loopback = loopbackFor(tokenEndpoint ?? issuer ?? '');
  const policy = policyOf({ loopback, privateHosts });
  const client: oauth.Client = { client_id: clientId };
  const parameters = parametersOf(options);
  let known: { readonly metadata: oauth.AuthorizationServer; readonly until: number } | undefined;

  async function find(signal: AbortSignal): Promise<oauth.AuthorizationServer> {
    if (tokenEndpoint !== undefined)
      return { issuer: issuer ?? new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint };
    if (known !== undefined && performance.now() < known.until) return known.metadata;
    const found = await reading('authorization server metadata', () =>
      discoverAuthorizationServer(issuer as string, { fetch, loopback, privateHosts, signal }),
    );
    const metadata = found as oauth.AuthorizationServer;
    known = { metadata, until: performance.now() + METADATA_MS };
    return metadata;
  }

  return async function exchange(subjectToken, signal) {
    const metadata = await find(signal);
    const identity = identityOf({ clientId, clientSecret, authentication }, metadata);
    const url = metadata.token_endpoint;
    const body = new URLSearchParams(parameters);
    body.set('subject_token', subjectToken);
    const result = await callEndpoint(
      { fetch, policy, signal, emit: () => undefined },
      {
        hop: 'token exchange',
        url,
        send: (hop) =>
          oauth.genericTokenEndpointRequest(
            metadata,
            client,
            identity.authentication.authenticate,
            TOKEN_EXCHANGE,
            body,
            hop,
          ),
        read: (response) => oauth.processGenericTokenEndpointResponse(metadata, client, response),
        secrets: [subjectToken, clientSecret],
      },
    );
    const problem = problemOf(result, subjectToken);
    if (problem !== undefined) throw hopError(problem, { hop: 'token exchange', url });
    const { access_token: token, expires_in: seconds } = result;
    return { token, lifetimeMs: seconds === undefined ? undefined : seconds * 1000 };
  };
}

function parametersOf(options: ExchangeSettings): URLSearchParams {
  const { subjectTokenType, requestedTokenType } = options;
  const scopes = namesIn(options, 'scopes');
  return new URLSearchParams([
    ['requested_token_type', requestedTokenType],
    ['subject_token_type', subjectTokenType],
    ...namesIn(options, 'audience').map((name) => ['audience', name]),
    ...namesIn(options, 'resource').map((name) => ['resource', name]),
    ...(scopes.length > 0 ? [['scope', scopes.join(' ')]] : []),
  ] as [string, string][]);
}

/** Says why an issued token must not be sent; undefined if it may be. */
function problemOf(
  { access_token: token, token_type: type }: oauth.TokenEndpointResponse,
  subjectToken: string,
): string | undefined {
  if (type !== 'bearer')
    return `The authorization server issued a token of type ${quote(String(type), 40)}, which the proxy cannot send. It must be Bearer.`;
  // MCP forbids to pass on the token of the caller.
  if (token === subjectToken) return 'The authorization server answered with the token of the caller.';
  if (!USABLE.test(token))
    return 'The authorization server issued a token that is too long, or that a header cannot carry.';
  return undefined;
}
