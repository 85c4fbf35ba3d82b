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
  /**
   * Whether the `permissions` of a token count as scopes, too. With role-based access control, Auth0 puts all permissions of the user
   * there, even those that the client did not ask for. Default: false.
   */
  readonly permissions?: boolean | undefined;
}

/** Tokens of Auth0. Its issuer ends with a slash. */
export function auth0Preset({ domain, permissions = false, ...options }: Auth0Options): Preset {
  const issuer = `https://${hostOf('auth0', 'domain', domain)}/`;
  const scopes = permissions ? ['scope', 'permissions'] : 'scope';
  return { options: { ...options, issuer, claims: { scopes } }, parts: { name: 'auth0' } };
}
