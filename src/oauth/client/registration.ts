import * as oauth from 'oauth4webapi';
import { displayUrl } from '../fetch/display-url.js';
import type { ClientIdentity, GrantContext } from './grants/grant.js';
import { type ClientAuthentication, noAuthentication, secretAuthentication } from './hops/authentication.js';
import { callEndpoint } from './hops/endpoint.js';
import { hopError } from './hops/failures.js';
import { scopesToRegister } from './scopes.js';
import { clientKey, readClient, type StoredClient } from './store/records.js';
import type { TokenStore } from './store/token-store.js';

// The client's identity at an authorization server. Spec 2025-11-25, Client Registration Approaches: pre-registered, a client ID
// metadata document, dynamic registration, and then the user.

/** A client that was registered by hand. */
export interface RegisteredClient {
  /** The id that the authorization server has given the client. */
  readonly clientId: string;
  /** The client's secret. Default: none; then the client is public. */
  readonly clientSecret?: string | undefined;
  /** The issuer that the client is registered at. Default: the first one that the MCP server names; it is remembered. */
  readonly issuer?: string | undefined;
  /** The way to authenticate, such as `privateKeyJwt` makes. Default: with the secret, as the authorization server prefers. */
  readonly authentication?: ClientAuthentication | undefined;
}

/** The description of a client for dynamic registration. */
export interface ClientDescription {
  /** The name that the user sees on the consent page. Default: `MCP client`. */
  readonly name?: string | undefined;
  /** The home page of the program. */
  readonly url?: string | undefined;
  /** The logo of the program. */
  readonly logoUrl?: string | undefined;
}

export interface ClientsParts {
  readonly store: TokenStore;
  readonly account: string;
  readonly registered: readonly RegisteredClient[];
  readonly metadataUrl: string | undefined;
  readonly description: ClientDescription;
  /** Asks the user for a client, after everything else has failed. */
  readonly ask: ((issuer: string) => Promise<RegisteredClient | undefined>) | undefined;
  /** The grants to register for; empty if the client must not register itself. */
  readonly grantTypes: readonly string[];
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];

/** The identities of one client at all authorization servers. */
export class Clients {
  readonly #parts: ClientsParts;

  constructor(parts: ClientsParts) {
    this.#parts = parts;
  }

  /** The redirect URIs of an earlier registration. A new one would need a new registration. */
  async redirectUris(issuer: string): Promise<readonly string[]> {
    return (await this.#stored(issuer))?.redirectUris ?? [];
  }

  /** The client that was registered by hand for an issuer. */
  registeredAt(issuer: string): RegisteredClient | undefined {
    const { registered } = this.#parts;
    return (
      registered.find((client) => client.issuer === issuer) ??
      registered.find((client) => client.issuer === undefined)
    );
  }

  /** Finds or makes the identity for a login that returns to `redirectUri`. */
  async find(context: GrantContext, redirectUri: string | undefined): Promise<ClientIdentity> {
    const { issuer, metadata } = context.target;
    const { metadataUrl, registered, ask } = this.#parts;
    const own = this.registeredAt(issuer);
    if (own !== undefined) {
      await this.#pin(own, issuer);
      return this.#found(context, identityOf(own, metadata), 'pre-registered');
    }
    if (metadataUrl !== undefined && metadata['client_id_metadata_document_supported'] === true)
      return this.#found(
        context,
        { clientId: metadataUrl, authentication: noAuthentication },
        'metadata document',
      );
    const stored = await this.#stored(issuer);
    if (stored !== undefined && isRegisteredFor(stored, redirectUri, context.scopes))
      return this.#found(context, ofStored(stored), 'stored');
    if (metadata.registration_endpoint !== undefined && this.#parts.grantTypes.length > 0)
      return this.#found(context, ofStored(await this.#register(context, redirectUri)), 'registered');
    const asked = await ask?.(issuer);
    if (asked !== undefined) return this.#found(context, identityOf(asked, metadata), 'asked');
    throw hopError(
      `The authorization server ${issuer} does not let clients register themselves. Register the client there by hand, and pass its id in the option \`registered\`.${registered.length > 0 ? ` The clients in \`registered\` belong to other issuers: ${registered.map((client) => client.issuer).join(', ')}.` : ''}`,
      { hop: 'registration' },
    );
  }

  /** The identity that stored tokens belong to; undefined if it is not known any more. */
  async known(
    { target: { issuer, metadata } }: GrantContext,
    clientId: string,
  ): Promise<ClientIdentity | undefined> {
    const own = this.#parts.registered.find(
      (client) => client.clientId === clientId && (client.issuer ?? issuer) === issuer,
    );
    if (own !== undefined) return identityOf(own, metadata);
    if (clientId === this.#parts.metadataUrl) return { clientId, authentication: noAuthentication };
    const stored = await this.#stored(issuer);
    return stored?.clientId === clientId ? ofStored(stored) : undefined;
  }

  /** Deletes the registration at an issuer that does not know it any more. */
  forget(issuer: string): Promise<void> {
    const { store, account } = this.#parts;
    return store.delete(clientKey(issuer, account));
  }

  async #stored(issuer: string): Promise<StoredClient | undefined> {
    const { store, account } = this.#parts;
    const client = await readClient(store, clientKey(issuer, account));
    return client?.secretExpiresAt !== undefined && client.secretExpiresAt <= Date.now() ? undefined : client;
  }

  /** A secret is for one issuer. An MCP server that was taken over could otherwise name its own, and get the secret. */
  async #pin({ clientId, issuer }: RegisteredClient, current: string): Promise<void> {
    if (issuer !== undefined) return;
    const { store, account } = this.#parts;
    const key = `issuer ${account} ${clientId}`;
    if (await store.set(key, current, { expected: null })) return;
    const pinned = await store.get(key);
    if (pinned === current) return;
    throw hopError(
      `The client ${JSON.stringify(clientId)} belongs to the issuer ${JSON.stringify(pinned)}, but the MCP server now names ${JSON.stringify(current)}. If that is right, pass the new \`issuer\` in \`registered\`.`,
      { hop: 'registration' },
    );
  }

  async #register(context: GrantContext, redirectUri: string | undefined): Promise<StoredClient> {
    const { store, account } = this.#parts;
    const { issuer, metadata } = context.target;
    const answer = await callEndpoint(context, {
      hop: 'registration',
      url: metadata.registration_endpoint,
      send: (options) =>
        oauth.dynamicClientRegistrationRequest(metadata, this.#metadata(context, redirectUri), options),
      read: oauth.processDynamicClientRegistrationResponse,
      secrets: [],
      refusal: refusalOf(context.target),
    });
    const scopes = scopesToRegister(context.scopes, context.target.resourceScopes);
    const client = toStored(answer, { redirectUri, scopes });
    if (client === undefined)
      throw hopError(
        `The authorization server registered the client with the method ${JSON.stringify(answer.token_endpoint_auth_method)}, which it cannot use.`,
        { hop: 'registration', url: metadata.registration_endpoint },
      );
    await store.set(clientKey(issuer, account), JSON.stringify(client));
    return client;
  }

  #metadata({ target, scopes, dpop }: GrantContext, redirectUri: string | undefined): Partial<oauth.Client> {
    const { description, grantTypes } = this.#parts;
    const scope = scopesToRegister(scopes, target.resourceScopes).join(' ');
    return {
      client_name: description.name ?? 'MCP client',
      ...(description.url !== undefined && { client_uri: description.url }),
      ...(description.logoUrl !== undefined && { logo_uri: description.logoUrl }),
      redirect_uris: redirectUri === undefined ? [] : [redirectUri],
      grant_types: [...grantTypes],
      response_types: redirectUri === undefined ? [] : ['code'],
      token_endpoint_auth_method: methodToRegister(target.metadata),
      application_type: redirectUri === undefined || isNative(redirectUri) ? 'native' : 'web',
      ...(scope !== '' && { scope }),
      ...(dpop !== undefined && { dpop_bound_access_tokens: true }),
    } as Partial<oauth.Client>;
  }

  #found(context: GrantContext, identity: ClientIdentity, how: FoundHow): ClientIdentity {
    context.emit({ type: 'client', issuer: context.target.issuer, clientId: identity.clientId, how });
    return identity;
  }
}

type FoundHow = 'pre-registered' | 'metadata document' | 'registered' | 'stored' | 'asked';

/** The identity of a client that was registered by hand. */
export function identityOf(client: RegisteredClient, metadata: oauth.AuthorizationServer): ClientIdentity {
  const { clientId, clientSecret: secret, authentication } = client;
  if (authentication !== undefined) return { clientId, authentication, secret };
  if (secret === undefined) return { clientId, authentication: noAuthentication };
  // RFC 8414, 2: without the member, Basic is meant.
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = SECRET_METHODS.find((name) => supported.includes(name)) ?? 'client_secret_basic';
  return { clientId, authentication: secretAuthentication(method, secret) as ClientAuthentication, secret };
}

/** Some servers refuse scopes and redirect URIs that were not registered, so that a new registration is needed for them. */
function isRegisteredFor(
  { redirectUris, scopes: registered }: StoredClient,
  redirectUri: string | undefined,
  scopes: readonly string[],
): boolean {
  const hasScopes = registered === undefined || scopes.every((scope) => registered.includes(scope));
  return hasScopes && (redirectUri === undefined || redirectUris.includes(redirectUri));
}

function ofStored({ clientId, clientSecret: secret, method }: StoredClient): ClientIdentity {
  const authentication = secret === undefined ? undefined : secretAuthentication(method, secret);
  return { clientId, authentication: authentication ?? noAuthentication, secret };
}

function toStored(
  answer: oauth.OmitSymbolProperties<oauth.Client>,
  { redirectUri, scopes }: { readonly redirectUri: string | undefined; readonly scopes: readonly string[] },
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
