// The entry `fullmcp/oauth-proxy`: an authorization server in front of a provider that does not let MCP clients register.

import { hasNode, lazySafeFetch } from './adapters/node/fetch/lazy-safe-fetch.js';
import { makeUserTokens, type UserTokens } from './oauth/forwarding/user-tokens.js';
import type { UserTokensOptions } from './oauth/forwarding/user-tokens-options.js';
import type { OAuthProxy, ProxyRuntime } from './oauth/proxy/oauth-proxy.js';
import { makeOAuthProxy } from './oauth/proxy/oauth-proxy.js';
import type { OAuthProxyOptions } from './oauth/proxy/options.js';

export {
  type ClientAuthentication,
  type PrivateKeyJwtOptions,
  privateKeyJwt,
} from './oauth/client/hops/authentication.js';
export type { SafeFetch } from './oauth/fetch/safe-fetch.js';
export type { UserTokens } from './oauth/forwarding/user-tokens.js';
export type { UserTokensOptions } from './oauth/forwarding/user-tokens-options.js';
export type { TokenVault } from './oauth/forwarding/vault-tokens.js';
export type { KnownClient } from './oauth/proxy/clients/client.js';
export type { Admit } from './oauth/proxy/endpoints/parts.js';
export type { OAuthProxy } from './oauth/proxy/oauth-proxy.js';
export type { OAuthProxyOptions } from './oauth/proxy/options.js';
export { auth0 } from './oauth/proxy/presets/auth0.js';
export { clerk } from './oauth/proxy/presets/clerk.js';
export { cognito } from './oauth/proxy/presets/cognito.js';
export { discord } from './oauth/proxy/presets/discord.js';
export { entra } from './oauth/proxy/presets/entra.js';
export { github } from './oauth/proxy/presets/github.js';
export { gitlab } from './oauth/proxy/presets/gitlab.js';
export { google } from './oauth/proxy/presets/google.js';
export { keycloak } from './oauth/proxy/presets/keycloak.js';
export { okta } from './oauth/proxy/presets/okta.js';
export { workos } from './oauth/proxy/presets/workos.js';
export { type OpenIdOptions, openId } from './oauth/proxy/upstream/open-id.js';
export type {
  UpstreamContext,
  UpstreamIdentity,
  UpstreamLogin,
  UpstreamProvider,
  UpstreamTokens,
} from './oauth/proxy/upstream/provider.js';
export type { AuthProvider } from './state/auth-provider.js';

const runtime: ProxyRuntime = {
  safeFetch: lazySafeFetch,
  ...(hasNode() && {
    loadDigest: async () => (await import('./adapters/node/oauth/digest.js')).nodeDigest,
  }),
};

/**
 * Makes an authorization server in front of a provider that MCP clients cannot register at. Clients log in here, users log in at
 * the provider, and the tokens of the provider never leave the server.
 * @example
 * ```ts
 * const auth = oauthProxy({
 *   upstream: github({ clientId, clientSecret }),
 *   publicUrl: 'https://mcp.example.com/mcp',
 * });
 * await serve(server, { auth });
 * ```
 */
export const oauthProxy: (options: OAuthProxyOptions) => OAuthProxy = /* @__PURE__ */ makeOAuthProxy(runtime);

/**
 * Makes the `identity` of a proxy whose users log in at the server behind it: each user's tokens are kept in a vault, and a user without
 * tokens is asked to open a page.
 * @example
 * ```ts
 * const tokens = userTokens({ upstream: github({ clientId, clientSecret }), vault, publicUrl, browserUser });
 * const between = proxy(url, { identity: tokens.identity });
 * ```
 */
export const userTokens: (options: UserTokensOptions) => UserTokens = /* @__PURE__ */ makeUserTokens(runtime);
