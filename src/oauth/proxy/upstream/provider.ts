import type { JsonObject } from '../../../jsonrpc/message.js';
import type { ClientAuthentication } from '../../client/hops/authentication.js';
import type { AuthorizationServer, IssuerExceptions } from '../../documents/authorization-server.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';

// The seam between the proxy and the provider behind it.

/** The endpoints of a provider that does not publish them, or publishes others. */
type UpstreamEndpoints = {
  /** Where users log in. */
  readonly authorization: string;
  /** Where codes and refresh tokens become access tokens. */
  readonly token: string;
  /** Where tokens are revoked (RFC 7009). Default: nowhere. */
  readonly revocation?: string | undefined;
  /** Where a token leads to the facts about its user. Default: nowhere. */
  readonly userinfo?: string | undefined;
  /** The public keys of the provider. Default: none. */
  readonly jwks?: string | undefined;
};

/** The tokens that a provider has issued for one login. They never leave the proxy. */
export interface UpstreamTokens {
  /** The access token. */
  readonly accessToken: string;
  /** The refresh token; undefined if the provider did not issue one. */
  readonly refreshToken?: string | undefined;
  /** When the access token expires, in milliseconds since 1970; undefined if the provider did not say. */
  readonly expiresAt?: number | undefined;
  /** The scopes that the provider granted, as it wrote them; undefined if it did not say. */
  readonly scope?: string | undefined;
}

/** The reply of a provider to a login. */
export interface UpstreamLogin extends UpstreamTokens {
  /** The ID token; undefined if there is none. It is not verified yet. */
  readonly idToken?: string | undefined;
  /** The whole reply of the token endpoint. */
  readonly reply: JsonObject;
}

/** A user, as the provider identifies them. */
export interface UpstreamIdentity {
  /** The issuer of the subject. It must be the same text for every login of one provider or tenant. */
  readonly issuer: string;
  /** The user's name at the issuer: unique and stable, and never given to another user. An email address is not. */
  readonly subject: string;
  /** The user's email address. Only one that the provider has verified. */
  readonly email?: string | undefined;
  /** Other facts for handlers. Handlers see them, so they must not contain tokens. Default: none. */
  readonly claims?: Readonly<JsonObject> | undefined;
}

/** The expected values of an ID token. */
export interface IdTokenExpectations {
  /** The expected `iss`, or a function that decides by the claims. Default: the issuer of the provider. */
  readonly issuer?: string | readonly string[] | ((claims: Readonly<JsonObject>) => boolean) | undefined;
  /** The algorithms that may have signed it. Default: those of public keys. */
  readonly algorithms?: readonly string[] | undefined;
}

/** The means of a provider's functions. */
export interface UpstreamContext {
  /** The metadata of the provider: as it publishes it, or made from `endpoints`. */
  readonly server: AuthorizationServer;
  /** Sends requests to the provider. Bodies and times are limited. */
  readonly fetch: SafeFetch;
  /**
   * Verifies an ID token: its signature with the keys of the provider, `iss`, `aud`, `azp`, `exp`, and the `nonce` of this login.
   * Returns its claims.
   */
  readonly verifyIdToken: (idToken: string, expected?: IdTokenExpectations) => Promise<JsonObject>;
}

/**
 * A provider that users log in to, and our registration there. `openId` makes one from the discovery document of a provider; the
 * presets make one for a provider that needs more than that.
 */
export interface UpstreamProvider {
  /** The name of the provider, for people: "GitHub". */
  readonly name: string;
  /** The issuer. Its metadata is discovered unless there are `endpoints`. */
  readonly issuer: string;
  /** The client id of our registration. */
  readonly clientId: string;
  /** The secret of our registration. Default: none. */
  readonly clientSecret?: string | undefined;
  /**
   * How we authenticate: the name of a method with a secret, `none`, or an object such as `privateKeyJwt` makes. Default: by the
   * metadata of the provider, `client_secret_basic` before `client_secret_post`; `none` without a secret.
   */
  readonly authentication?: ClientAuthentication | string | undefined;
  /** The endpoints, if they are not to be discovered. */
  readonly endpoints?: UpstreamEndpoints | undefined;
  /** The exceptions for metadata that breaks a rule. Default: none. */
  readonly exceptions?: IssuerExceptions | undefined;
  /** The scopes that every login asks for. */
  readonly scopes: readonly string[];
  /** More parameters for the authorization endpoint, such as `access_type`. Default: none. */
  readonly authorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** More parameters for the token endpoint, such as `audience`. Default: none. */
  readonly tokenParameters?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether requests for authorization are sent to the provider first, and the browser gets only their name (RFC 9126). Default: if
   * the metadata of the provider requires it. Set it if only your registration requires it.
   */
  readonly pushedRequests?: boolean | undefined;
  /** Whether PKCE is used. Default: true. Set it to false only for a provider that fails with it. */
  readonly pkce?: boolean | undefined;
  /** Changes replies of the token endpoint that mean the right thing and say it in another form. Default: the repairs of `oauth()`. */
  readonly repair?: ((response: Response) => Response | Promise<Response>) | undefined;
  /**
   * Finds out whose login it is. It must make sure that the tokens were issued for our registration. Called once for each login.
   * An error fails the login.
   */
  readonly identify: (
    login: UpstreamLogin,
    context: UpstreamContext,
  ) => UpstreamIdentity | Promise<UpstreamIdentity>;
  /**
   * Whether a user belongs to the people who may log in at all, such as the members of one organization. The proxy asks before its
   * own `admit`. Default: all do.
   */
  readonly accepts?: ((user: UpstreamIdentity) => boolean) | undefined;
  /**
   * Whether tokens are still valid at the provider. Called when a client refreshes its tokens and there is no upstream refresh token.
   * Default: they are not checked, and the login ends after `unverifiedMaxAgeMs` of the proxy.
   */
  readonly isValid?:
    | ((tokens: UpstreamTokens, context: UpstreamContext) => boolean | Promise<boolean>)
    | undefined;
  /** Revokes tokens. Default: at the revocation endpoint (RFC 7009), if there is one. */
  readonly revoke?: ((tokens: UpstreamTokens, context: UpstreamContext) => void | Promise<void>) | undefined;
}
