import type { AuthorizationServer } from 'oauth4webapi';
import type { ClientIdentity, GrantContext } from './grants/grant.js';
import { type ClientDescription, registerClient, SECRET_METHODS } from './grants/register.js';
import { type ClientAuthentication, noAuthentication, secretAuthentication } from './hops/authentication.js';
import { hopError } from './hops/failures.js';
import { trySaving } from './hops/try-saving.js';
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

/** The identities of one client at all authorization servers. */
export class Clients {
  readonly #parts: ClientsParts;
  /** Registrations that could not be saved, by issuer. */
  readonly #unsaved = new Map<string, StoredClient>();
  /** The clients that the user named, by issuer: their keys cannot be saved. */
  readonly #named = new Map<string, RegisteredClient>();

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
    const named = this.#named.get(issuer);
    if (named !== undefined) return this.#found(context, identityOf(named, metadata), 'asked');
    if (metadataUrl !== undefined && metadata['client_id_metadata_document_supported'] === true)
      return this.#found(
        context,
        { clientId: metadataUrl, authentication: noAuthentication },
        'metadata document',
      );
    const stored = await this.#stored(issuer);
    if (stored !== undefined && isRegisteredFor(stored, redirectUri, context.scopes))
      return this.#found(context, ofStored(stored), 'stored');
    if (metadata.registration_endpoint !== undefined && this.#parts.grantTypes.length > 0) {
      const { description, grantTypes } = this.#parts;
      const scopes = scopesToRegister(context.scopes, context.target.resourceScopes);
      const registration = await registerClient(context, { description, grantTypes, redirectUri, scopes });
      await this.#keep(context, registration);
      return this.#found(context, ofStored(registration), 'registered');
    }
    const asked = await ask?.(issuer);
    if (asked !== undefined) {
      const identity = identityOf(asked, metadata);
      await this.#keepNamed(context, asked, identity);
      return this.#found(context, identity, 'asked');
    }
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
    const named = this.#named.get(issuer);
    if (named?.clientId === clientId) return identityOf(named, metadata);
    if (clientId === this.#parts.metadataUrl) return { clientId, authentication: noAuthentication };
    const stored = await this.#stored(issuer);
    return stored?.clientId === clientId ? ofStored(stored) : undefined;
  }

  /** Deletes the registration at an issuer that does not know it any more. */
  forget(issuer: string): Promise<void> {
    const { store, account } = this.#parts;
    this.#unsaved.delete(issuer);
    this.#named.delete(issuer);
    return store.delete(clientKey(issuer, account));
  }

  async #stored(issuer: string): Promise<StoredClient | undefined> {
    const { store, account } = this.#parts;
    const client = this.#unsaved.get(issuer) ?? (await readClient(store, clientKey(issuer, account)));
    return client?.secretExpiresAt !== undefined && client.secretExpiresAt <= Date.now() ? undefined : client;
  }

  async #keep({ target: { issuer }, emit }: GrantContext, client: StoredClient): Promise<void> {
    const { store, account } = this.#parts;
    const save = (): Promise<unknown> => store.set(clientKey(issuer, account), JSON.stringify(client));
    if (await trySaving(save, emit)) this.#unsaved.delete(issuer);
    else this.#unsaved.set(issuer, client);
  }

  /** The user is not asked again for a client, in the next run only if it has a key that cannot be saved. */
  async #keepNamed(context: GrantContext, client: RegisteredClient, identity: ClientIdentity): Promise<void> {
    this.#named.set(context.target.issuer, client);
    if (client.authentication !== undefined) return;
    await this.#keep(context, {
      clientId: client.clientId,
      clientSecret: client.clientSecret,
      secretExpiresAt: undefined,
      method: identity.authentication.method,
      redirectUris: [],
      scopes: undefined,
      isNamedByUser: true,
    });
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

  #found(context: GrantContext, identity: ClientIdentity, how: FoundHow): ClientIdentity {
    context.emit({ type: 'client', issuer: context.target.issuer, clientId: identity.clientId, how });
    return identity;
  }
}

type FoundHow = 'pre-registered' | 'metadata document' | 'registered' | 'stored' | 'asked';

/** The identity of a client that was registered by hand. */
export function identityOf(client: RegisteredClient, metadata: AuthorizationServer): ClientIdentity {
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
  { redirectUris, scopes: registered, isNamedByUser = false }: StoredClient,
  redirectUri: string | undefined,
  scopes: readonly string[],
): boolean {
  if (isNamedByUser) return true;
  const hasScopes = registered === undefined || scopes.every((scope) => registered.includes(scope));
  return hasScopes && (redirectUri === undefined || redirectUris.includes(redirectUri));
}

function ofStored({ clientId, clientSecret: secret, method }: StoredClient): ClientIdentity {
  const authentication = secret === undefined ? undefined : secretAuthentication(method, secret);
  return { clientId, authentication: authentication ?? noAuthentication, secret };
}
