import { hostOf, nameOf } from '../../server/presets/preset.js';
import { type OpenIdOptions, openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `okta`. */
export interface OktaUpstreamOptions extends UpstreamOptions {
  /** The domain of the organization, such as `example.okta.com`, or its own domain. */
  readonly domain: string;
  /**
   * The id of the custom authorization server, which issues access tokens for your own APIs; false for the organization's server,
   * whose tokens are for Okta's APIs. Default: `default`.
   */
  readonly authorizationServer?: string | false | undefined;
  /** How the app authenticates, if not by its secret. Default: by its secret, in the header. */
  readonly authentication?: OpenIdOptions['authentication'];
  /** The scopes to ask for. `openid` is always among them. Default: `openid`, `profile`, `email`, `offline_access`. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with Okta. Create an app integration of the type "OIDC, Web Application" with the grant "Refresh Token", and with
 * `<issuer>/callback` as its sign-in redirect URI. The access policy of the authorization server must allow the app.
 * @example
 * ```ts
 * const upstream = okta({ domain: 'example.okta.com', clientId, clientSecret });
 * ```
 */
export function okta(options: OktaUpstreamOptions): UpstreamProvider {
  checkPreset('okta', options, { domain: 'any', authorizationServer: 'any', authentication: 'any' });
  const { domain, authorizationServer = 'default', ...registration } = options;
  const organization = `https://${hostOf('okta', 'domain', domain)}`;
  return openId({
    name: 'Okta',
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    ...registration,
    issuer:
      authorizationServer === false
        ? organization
        : `${organization}/oauth2/${nameOf('okta', 'authorizationServer', authorizationServer)}`,
  });
}
