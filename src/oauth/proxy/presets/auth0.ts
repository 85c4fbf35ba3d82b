import { hostOf } from '../../server/presets/preset.js';
import { type OpenIdOptions, openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `auth0`. */
export interface Auth0UpstreamOptions extends UpstreamOptions {
  /** The domain of the tenant, such as `example.eu.auth0.com`, or its own domain. */
  readonly domain: string;
  /**
   * The identifier of the API at Auth0 that the server calls for its users. The access tokens are then for that API. Default: none,
   * and the access tokens are good only for the profile of the user.
   */
  readonly audience?: string | undefined;
  /** How the application authenticates, if not by its secret. Default: by its secret, in the body, as Auth0 sets applications up. */
  readonly authentication?: OpenIdOptions['authentication'];
  /** The scopes to ask for. `openid` is always among them. Default: `openid`, `profile`, `email`, `offline_access`. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with Auth0. Create an application of the type "Regular Web Application", with `<issuer>/callback` among its
 * allowed callback URLs. An API that is named as `audience` needs "Allow Offline Access" for refresh tokens.
 * @example
 * ```ts
 * const upstream = auth0({ domain: 'example.eu.auth0.com', clientId, clientSecret });
 * ```
 */
export function auth0(options: Auth0UpstreamOptions): UpstreamProvider {
  checkPreset('auth0', options, { domain: 'any', audience: 'any', authentication: 'any' });
  const { domain, audience, authentication = 'client_secret_post', ...registration } = options;
  return openId({
    name: 'Auth0',
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    ...registration,
    authentication,
    // The slash belongs to the issuer.
    issuer: `https://${hostOf('auth0', 'domain', domain)}/`,
    authorizationParameters: {
      // Auth0 does not read `resource`, unless a setting of the tenant says so.
      ...(audience !== undefined && { audience }),
      ...options.authorizationParameters,
    },
  });
}
