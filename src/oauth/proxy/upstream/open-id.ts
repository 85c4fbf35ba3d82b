import type { JsonObject } from '../../../jsonrpc/message.js';
import type { ClientAuthentication } from '../../client/hops/authentication.js';
import type { IssuerExceptions } from '../../documents/authorization-server.js';
import type { UpstreamIdentity, UpstreamProvider } from './provider.js';

/** The options of `openId`. */
export interface OpenIdOptions {
  /** The issuer, exactly as its metadata writes it. */
  readonly issuer: string;
  /** The client id of your registration at the provider. */
  readonly clientId: string;
  /** The secret of your registration. Default: none. */
  readonly clientSecret?: string | undefined;
  /** How your registration authenticates, if not by its secret. Default: by the metadata of the provider. */
  readonly authentication?: ClientAuthentication | string | undefined;
  /** The name of the provider on the pages that users see. Default: the host of the issuer. */
  readonly name?: string | undefined;
  /** The scopes to ask for. `openid` is always among them. Default: `openid`, `profile`, `email`. */
  readonly scopes?: readonly string[] | undefined;
  /** More parameters for the authorization endpoint, such as `prompt`. Default: none. */
  readonly authorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** The exceptions for metadata that breaks a rule. Default: none. */
  readonly exceptions?: IssuerExceptions | undefined;
}

/** The claims that only protect the ID token itself. Handlers do not need them. */
const PROTOCOL_CLAIMS = [
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'jti',
  'auth_time',
];

/**
 * Makes an upstream provider from the discovery document of any OpenID provider. The user is identified by the ID token.
 * @example
 * ```ts
 * const upstream = openId({ issuer: 'https://login.example.com', clientId, clientSecret });
 * ```
 */
export function openId(options: OpenIdOptions): UpstreamProvider {
  const { issuer, clientId, clientSecret, authentication, authorizationParameters, exceptions } = options;
  const { name = new URL(issuer).host, scopes = ['openid', 'profile', 'email'] } = options;
  return {
    name,
    issuer,
    clientId,
    clientSecret,
    authentication,
    exceptions,
    authorizationParameters,
    scopes: [...new Set(['openid', ...scopes])],
    async identify({ idToken }, { verifyIdToken }) {
      if (idToken === undefined) throw new Error('The provider did not send an ID token.');
      return identityOf(await verifyIdToken(idToken));
    },
  };
}

/** The user of verified claims of OpenID Connect. */
function identityOf(claims: JsonObject): UpstreamIdentity {
  const { iss, sub, email, email_verified: verified } = claims;
  const others = Object.entries(claims).filter(([claim]) => !PROTOCOL_CLAIMS.includes(claim));
  return {
    issuer: String(iss),
    subject: String(sub),
    // Anyone can claim an address that nobody has verified. Some providers write the flag as a string.
    email: typeof email === 'string' && (verified === true || verified === 'true') ? email : undefined,
    claims: Object.fromEntries(others),
  };
}
