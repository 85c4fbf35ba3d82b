import * as oauth from 'oauth4webapi';
import { McpError } from '../../../protocol/errors.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { callEndpoint, isAllowed } from '../hops/endpoint.js';
import { hopError } from '../hops/failures.js';
import {
  type ClientIdentity,
  commonParameters,
  type GrantContext,
  type IssuedTokens,
  requestTokens,
} from './grant.js';

// The authorization code grant with PKCE: the user logs in with a browser, which brings a code back.

/** The end of the user's way through the browser. */
export interface Redirection {
  /** The URL that the browser was sent to, with its query. */
  readonly url: string;
  /** Shows the user how the login ended. */
  readonly finish?: ((outcome: { readonly error: string | undefined }) => void) | undefined;
}

/** Sends the user to a URL and waits until the browser is sent back. */
export type Authorize = (request: {
  /** The URL at which the user logs in. */
  readonly url: string;
  /** The `state` that the redirect has to carry. */
  readonly state: string;
  /** Aborts when the login is given up. */
  readonly signal: AbortSignal;
}) => Promise<Redirection>;

export interface CodeGrantParts {
  readonly identity: ClientIdentity;
  readonly redirectUri: string;
  readonly authorize: Authorize;
  /** More parameters for the authorization endpoint. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Gets tokens by a login of the user. */
export async function authorizationCode(context: GrantContext, parts: CodeGrantParts): Promise<IssuedTokens> {
  const { metadata } = context.target;
  const { identity, redirectUri } = parts;
  const client: oauth.Client = { client_id: identity.clientId };
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = await authorizationUrl(context, { ...parts, client, verifier, state });
  context.emit({ type: 'authorize', url: url.href, scopes: context.scopes });
  const redirection = await parts.authorize({ url: url.href, state, signal: context.signal });
  try {
    const answer = readRedirect(context, { client, state, url: redirection.url });
    const tokens = await requestTokens(context, {
      hop: 'token',
      identity,
      send: (_, options) =>
        oauth.authorizationCodeGrantRequest(
          metadata,
          client,
          identity.authentication.authenticate,
          answer,
          redirectUri,
          verifier,
          { ...options, additionalParameters: withResource(context) },
        ),
      read: (_, response) => oauth.processAuthorizationCodeResponse(metadata, client, response),
      secrets: [verifier, answer.get('code') ?? undefined],
    });
    redirection.finish?.({ error: undefined });
    return tokens;
  } catch (error) {
    redirection.finish?.({ error: McpError.is(error) ? error.message : 'The login failed.' });
    throw error;
  }
}

interface UrlParts extends CodeGrantParts {
  readonly client: oauth.Client;
  readonly verifier: string;
  readonly state: string;
}

async function authorizationUrl(context: GrantContext, parts: UrlParts): Promise<URL> {
  const { metadata } = context.target;
  const { client, verifier, state, redirectUri, parameters } = parts;
  const url = checkedEndpoint(context);
  const query = {
    // OpenID Connect Core 1.0, 11: without it, no refresh token has to be issued.
    ...(context.scopes.includes('offline_access') && { prompt: 'consent' }),
    ...parameters,
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...commonParameters(context),
  };
  if (metadata.require_pushed_authorization_requests !== true) {
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
  const { request_uri: requestUri } = await callEndpoint(context, {
    hop: 'authorization',
    url: metadata.pushed_authorization_request_endpoint,
    send: (options) =>
      oauth.pushedAuthorizationRequest(
        metadata,
        client,
        parts.identity.authentication.authenticate,
        query,
        options,
      ),
    read: (response) => oauth.processPushedAuthorizationResponse(metadata, client, response),
    secrets: [verifier, parts.identity.secret],
    dpop: context.dpop,
  });
  url.searchParams.set('client_id', client.client_id);
  url.searchParams.set('request_uri', requestUri);
  return url;
}

/** The browser opens this URL, so it must not be `javascript:` or `file:`. */
function checkedEndpoint({ target: { metadata }, policy }: GrantContext): URL {
  const { authorization_endpoint: endpoint, issuer } = metadata;
  if (endpoint !== undefined && isAllowed(endpoint, policy)) return new URL(endpoint);
  const what =
    endpoint === undefined
      ? 'has no authorization endpoint'
      : `has an authorization endpoint that must not be opened: ${displayUrl(endpoint)}`;
  throw hopError(`The authorization server ${issuer} ${what}.`, { hop: 'authorization' });
}

/** The parameters of the redirect, after `state` and `iss` were compared. */
function readRedirect(
  { target: { metadata } }: GrantContext,
  { client, state, url }: { readonly client: oauth.Client; readonly state: string; readonly url: string },
): URLSearchParams {
  const hop = 'authorization';
  if (!URL.canParse(url)) throw hopError('The URL that the browser was sent to is not a URL.', { hop });
  const { searchParams } = new URL(url);
  try {
    return oauth.validateAuthResponse(metadata, client, searchParams, state);
  } catch (error) {
    const secrets = [state, searchParams.get('code') ?? undefined];
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error;
      throw hopError('The authorization server did not authorize the client.', {
        hop,
        error: code,
        description,
        secrets,
      });
    }
    const issuers = searchParams.getAll('iss');
    if (searchParams.getAll('state').length !== 1 || searchParams.get('state') !== state)
      throw hopError('The redirect does not belong to this login: its `state` is another one.', {
        hop,
        secrets,
      });
    if (issuers.length !== 1 || issuers[0] !== metadata.issuer) {
      const came = issuers.length === 0 ? 'has no issuer' : `comes from ${JSON.stringify(issuers.join(' '))}`;
      throw hopError(
        `The redirect ${came}, but this login was begun at ${JSON.stringify(metadata.issuer)}. It may be an attack, so the code was not used.`,
        { hop, secrets },
      );
    }
    throw hopError('The redirect cannot be read.', { hop, secrets });
  }
}

function withResource({ target: { resource } }: GrantContext): Record<string, string> {
  return resource === undefined ? {} : { resource };
}
