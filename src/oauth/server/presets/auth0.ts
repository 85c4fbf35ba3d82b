import { hostOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `auth0`. */
export interface Auth0Options extends PresetOptions {
  /** The domain of the tenant, such as `example.eu.auth0.com`, or its own domain. */
  readonly domain: string;
  /**
   * The identifier of the API in Auth0. With the "Resource Parameter Compatibility Profile" of the tenant, it is the URL of the
   * server, which MCP clients send as `resource`. Without that profile they get tokens that are not JWTs.
   */
  readonly audience: string | readonly string[];
}

/** Tokens of Auth0. Its issuer ends with a slash, and with RBAC the scopes are in `permissions` too. */
export function auth0Preset({ domain, ...options }: Auth0Options): Preset {
  const issuer = `https://${hostOf('auth0', 'domain', domain)}/`;
  return {
    options: { ...options, issuer, claims: { scopes: ['scope', 'permissions'] } },
    parts: { name: 'auth0' },
  };
}
