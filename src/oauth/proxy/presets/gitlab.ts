import { openId, type UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset, siteOf } from './preset.js';

/** The options of `gitlab`. */
export interface GitlabUpstreamOptions extends UpstreamOptions {
  /** The secret of the application. */
  readonly clientSecret: string;
  /** The URL of your own GitLab, such as `https://gitlab.example.com`. Default: `https://gitlab.com`. */
  readonly url?: string | undefined;
  /**
   * The scopes to ask for, such as `read_api`. `openid` is always among them. The application must have all. Default: `openid`,
   * `profile`, `email`.
   */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with GitLab. Create a confidential application, with these scopes, and with `<issuer>/callback` as its redirect
 * URI. Access tokens end after two hours; each refresh replaces both tokens.
 * @example
 * ```ts
 * const upstream = gitlab({ clientId, clientSecret });
 * ```
 */
export function gitlab(options: GitlabUpstreamOptions): UpstreamProvider {
  checkPreset('gitlab', options, { url: 'any' });
  const { url = 'https://gitlab.com', ...registration } = options;
  const issuer = siteOf('gitlab', 'url', url);
  return {
    ...openId({ name: 'GitLab', ...registration, issuer, authentication: 'client_secret_post' }),
    // One of its metadata documents is for clients of its own MCP server.
    endpoints: {
      authorization: `${issuer}/oauth/authorize`,
      token: `${issuer}/oauth/token`,
      revocation: `${issuer}/oauth/revoke`,
      userinfo: `${issuer}/oauth/userinfo`,
      jwks: `${issuer}/oauth/discovery/keys`,
    },
  };
}
