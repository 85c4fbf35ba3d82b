import { hostOf } from '../../server/presets/preset.js';
import { openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `workos`. */
export interface WorkosUpstreamOptions extends UpstreamOptions {
  /** The secret of the application. */
  readonly clientSecret: string;
  /** The domain of AuthKit, such as `example.authkit.app`, or its own domain. */
  readonly domain: string;
  /** The scopes to ask for. `openid` is always among them. Default: `openid`, `profile`, `email`, `offline_access`. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with WorkOS AuthKit. Create an OAuth application under "Connect" in its dashboard, with `<issuer>/callback` as its
 * redirect URI. Where MCP clients may register at AuthKit itself, a server does not need the proxy: see `workos` of `fullmcp/auth`.
 * @example
 * ```ts
 * const upstream = workos({ domain: 'example.authkit.app', clientId, clientSecret });
 * ```
 */
export function workos(options: WorkosUpstreamOptions): UpstreamProvider {
  checkPreset('workos', options, { domain: 'any' });
  const { domain, ...registration } = options;
  const issuer = `https://${hostOf('workos', 'domain', domain)}`;
  return {
    ...openId({
      name: 'WorkOS',
      scopes: ['openid', 'profile', 'email', 'offline_access'],
      ...registration,
      issuer,
      authentication: 'client_secret_post',
    }),
    // It has two metadata documents, and neither has all that is needed.
    endpoints: {
      authorization: `${issuer}/oauth2/authorize`,
      token: `${issuer}/oauth2/token`,
      userinfo: `${issuer}/oauth2/userinfo`,
      jwks: `${issuer}/oauth2/jwks`,
    },
  };
}
