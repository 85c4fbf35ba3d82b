import { hostOf } from '../../server/presets/preset.js';
import { type OpenIdOptions, openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `clerk`. */
export interface ClerkUpstreamOptions extends UpstreamOptions {
  /** The domain of the instance, such as `example.clerk.accounts.dev`, or its own domain. */
  readonly domain: string;
  /** How the application authenticates, if not by its secret: `none` for a public one. Default: by its secret, in the header. */
  readonly authentication?: OpenIdOptions['authentication'];
  /**
   * The scopes to ask for. `openid` is always among them. The application must have all. Default: `openid`, `profile`, `email`,
   * `offline_access`.
   */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with Clerk. Create an OAuth application in its dashboard, with these scopes, and with `<issuer>/callback` as its
 * redirect URI.
 * @example
 * ```ts
 * const upstream = clerk({ domain: 'example.clerk.accounts.dev', clientId, clientSecret });
 * ```
 */
export function clerk(options: ClerkUpstreamOptions): UpstreamProvider {
  checkPreset('clerk', options, { domain: 'any', authentication: 'any' });
  const { domain, ...registration } = options;
  return openId({
    name: 'Clerk',
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    ...registration,
    issuer: `https://${hostOf('clerk', 'domain', domain)}`,
  });
}
