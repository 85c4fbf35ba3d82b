import { nameOf } from '../../server/presets/preset.js';
import { type OpenIdOptions, openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset, siteOf } from './preset.js';

/** The options of `keycloak`. */
export interface KeycloakUpstreamOptions extends UpstreamOptions {
  /** The URL of Keycloak as users see it, such as `https://login.example.com`. It is part of the issuer. */
  readonly url: string;
  /** The name of the realm. */
  readonly realm: string;
  /**
   * The URL by which this server reaches Keycloak, if it is another one, such as `http://keycloak:8080`. Name it in `privateHosts` of
   * the proxy too. Default: `url`.
   */
  readonly internalUrl?: string | undefined;
  /** How the client authenticates, if not by its secret: `none` for a public client. Default: by its secret, in the header. */
  readonly authentication?: OpenIdOptions['authentication'];
}

/**
 * Lets users log in with Keycloak. Create a client of the type "OpenID Connect" with client authentication and the standard flow, and
 * with `<issuer>/callback` among its valid redirect URIs.
 *
 * Logins last as long as sessions of the realm. For logins that outlast them, add `offline_access` to the scopes.
 * @example
 * ```ts
 * const upstream = keycloak({ url: 'https://login.example.com', realm: 'staff', clientId, clientSecret });
 * ```
 */
export function keycloak(options: KeycloakUpstreamOptions): UpstreamProvider {
  checkPreset('keycloak', options, { url: 'any', realm: 'any', internalUrl: 'any', authentication: 'any' });
  const { url, realm, internalUrl, ...registration } = options;
  const path = `realms/${nameOf('keycloak', 'realm', realm)}`;
  const issuer = `${siteOf('keycloak', 'url', url)}/${path}`;
  const provider = openId({ name: 'Keycloak', ...registration, issuer });
  if (internalUrl === undefined) return provider;
  // Its metadata would name addresses that only users can reach.
  const inside = `${siteOf('keycloak', 'internalUrl', internalUrl, { isInternal: true })}/${path}/protocol/openid-connect`;
  return {
    ...provider,
    endpoints: {
      authorization: `${issuer}/protocol/openid-connect/auth`,
      token: `${inside}/token`,
      jwks: `${inside}/certs`,
      userinfo: `${inside}/userinfo`,
      revocation: `${inside}/revoke`,
    },
  };
}
