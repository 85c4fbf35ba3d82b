import { hostOf, nameOf } from '../../server/presets/preset.js';
import { openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `cognito`. */
export interface CognitoUpstreamOptions extends UpstreamOptions {
  /** The secret of the app client. */
  readonly clientSecret: string;
  /** The region of the user pool, such as `eu-central-1`. */
  readonly region: string;
  /** The id of the user pool, such as `eu-central-1_AbCdEfGhI`. */
  readonly userPoolId: string;
  /**
   * The domain of the login pages, such as `example.auth.eu-central-1.amazoncognito.com`, if the user pool has several. Default: the
   * one that its metadata names.
   */
  readonly domain?: string | undefined;
  /** The scopes to ask for. `openid` is always among them. The app client must allow all. Default: `openid`, `profile`, `email`. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with Amazon Cognito. The user pool needs a domain, and an app client with a secret, the authorization code grant,
 * the scopes, and `<issuer>/callback` among its callback URLs.
 *
 * The groups of a user are in `claims['cognito:groups']`.
 * @example
 * ```ts
 * const upstream = cognito({ region: 'eu-central-1', userPoolId: 'eu-central-1_AbCdEfGhI', clientId, clientSecret });
 * ```
 */
export function cognito(options: CognitoUpstreamOptions): UpstreamProvider {
  checkPreset('cognito', options, { region: 'any', userPoolId: 'any', domain: 'any' });
  const { region, userPoolId, domain, ...registration } = options;
  const host = `cognito-idp.${nameOf('cognito', 'region', region)}.amazonaws.com`;
  const issuer = `https://${host}/${nameOf('cognito', 'userPoolId', userPoolId)}`;
  const provider = openId({
    name: 'Amazon Cognito',
    ...registration,
    issuer,
    authentication: 'client_secret_basic',
    // PKCE works, but the metadata does not say so.
    exceptions: { assumeS256: true },
  });
  if (domain === undefined) return provider;
  const login = `https://${hostOf('cognito', 'domain', domain)}/oauth2`;
  return {
    ...provider,
    endpoints: {
      authorization: `${login}/authorize`,
      token: `${login}/token`,
      revocation: `${login}/revoke`,
      userinfo: `${login}/userInfo`,
      jwks: `${issuer}/.well-known/jwks.json`,
    },
  };
}
