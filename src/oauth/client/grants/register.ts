import * as oauth from 'oauth4webapi';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { callEndpoint } from '../hops/endpoint.js';
import { hopError } from '../hops/failures.js';
import type { StoredClient } from '../store/records.js';
import type { GrantContext } from './grant.js';

// Dynamic client registration (RFC 7591).

/** The description of a client for dynamic registration. */
export interface ClientDescription {
  /** The name that the user sees on the consent page. Default: `MCP client`. */
  readonly name?: string | undefined;
  /** The home page of the program. */
  readonly url?: string | undefined;
  /** The logo of the program. */
  readonly logoUrl?: string | undefined;
}

export interface RegistrationParts {
  readonly description: ClientDescription;
  readonly grantTypes: readonly string[];
  readonly redirectUri: string | undefined;
  readonly scopes: readonly string[];
}

/** The methods with a shared secret, the best first. */
export const SECRET_METHODS: readonly string[] = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
];

/** Registers a client at an authorization server. */
export async function registerClient(context: GrantContext, parts: RegistrationParts): Promise<StoredClient> {
  const { metadata } = context.target;
  const answer = await callEndpoint(context, {
    hop: 'registration',
    url: metadata.registration_endpoint,
    send: (options) => oauth.dynamicClientRegistrationRequest(metadata, metadataOf(context, parts), options),
    read: oauth.processDynamicClientRegistrationResponse,
    secrets: [],
    refusal: refusalOf(context.target),
  });
  const client = toStored(answer, parts);
  if (client !== undefined) return client;
  throw hopError(
    `The authorization server registered the client with the method ${JSON.stringify(answer.token_endpoint_auth_method)}, which it cannot use.`,
    { hop: 'registration', url: metadata.registration_endpoint },
  );
}

function metadataOf(
  { target, dpop }: GrantContext,
  { description, grantTypes, redirectUri, scopes }: RegistrationParts,
): Partial<oauth.Client> {
  return {
    client_name: description.name ?? 'MCP client',
    ...(description.url !== undefined && { client_uri: description.url }),
    ...(description.logoUrl !== undefined && { logo_uri: description.logoUrl }),
    redirect_uris: redirectUri === undefined ? [] : [redirectUri],
    grant_types: [...grantTypes],
    response_types: redirectUri === undefined ? [] : ['code'],
    token_endpoint_auth_method: methodToRegister(target.metadata),
    application_type: redirectUri === undefined || isNative(redirectUri) ? 'native' : 'web',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(dpop !== undefined && { dpop_bound_access_tokens: true }),
  } as Partial<oauth.Client>;
}

function toStored(
  answer: oauth.OmitSymbolProperties<oauth.Client>,
  { redirectUri, scopes }: RegistrationParts,
): StoredClient | undefined {
  const { client_id: clientId, token_endpoint_auth_method: answered } = answer;
  const clientSecret = typeof answer.client_secret === 'string' ? answer.client_secret : undefined;
  const expiresAt =
    typeof answer['client_secret_expires_at'] === 'number' ? answer['client_secret_expires_at'] : 0;
  // RFC 7591, 2: without the member, Basic is meant, which needs a secret.
  const method =
    typeof answered === 'string' ? answered : clientSecret === undefined ? 'none' : 'client_secret_basic';
  const isUsable = method === 'none' || (clientSecret !== undefined && SECRET_METHODS.includes(method));
  if (!isUsable) return undefined;
  return {
    clientId,
    clientSecret: method === 'none' ? undefined : clientSecret,
    secretExpiresAt: expiresAt > 0 ? expiresAt * 1000 : undefined,
    method,
    redirectUris: redirectUri === undefined ? [] : [redirectUri],
    scopes: scopes.length === 0 ? undefined : scopes,
  };
}

/** The advice for a client that could not register itself. */
function refusalOf({ server, issuer, isAssumed }: GrantContext['target']): string {
  const byHand = 'register the client there by hand, and pass its id in the option `registered`.';
  return isAssumed
    ? `The MCP server ${displayUrl(server)} does not name an authorization server, and it is not one itself. If it takes an API key or a token, pass that as \`auth\` instead of a login. If it is an authorization server, ${byHand}`
    : `Clients cannot register themselves at ${issuer}, or not this one: ${byHand}`;
}

/** A public client needs no secret; where the server wants one, it gets one. */
function methodToRegister({
  token_endpoint_auth_methods_supported: supported,
}: oauth.AuthorizationServer): string {
  return ['none', ...SECRET_METHODS].find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

/** Spec 2026-07-28, Dynamic Client Registration: loopback and custom schemes are native, https is of a web application. */
function isNative(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol !== 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
