// The entry `fullmcp/auth`: authorizes the callers of a server.

import { hasNode, lazySafeFetch } from './adapters/node/fetch/lazy-safe-fetch.js';
import { type ApiKeyOptions, makeApiKey } from './oauth/server/api-key.js';
import type { VerifierRuntime } from './oauth/server/keys/runtime.js';
import { makePresets, type ProviderPresets } from './oauth/server/presets/make-presets.js';
import { type IntrospectionOptions, makeIntrospection } from './oauth/server/tokens/introspection.js';
import { type JwtOptions, makeJwt } from './oauth/server/tokens/jwt.js';
import { makeSharedSecretJwt, type SharedSecretJwtOptions } from './oauth/server/tokens/shared-secret-jwt.js';
import type { TokenProvider } from './oauth/server/tokens/token-provider.js';
import { makeTrustedProxy, type TrustedProxyOptions } from './oauth/server/trusted-proxy.js';
import type { AuthProvider } from './state/auth-provider.js';

export { anyOf } from './oauth/server/any-of.js';
export type { ApiKey, ApiKeyOptions } from './oauth/server/api-key.js';
export { type BearerOptions, bearer, type VerifyToken } from './oauth/server/bearer.js';
export { hashApiKey } from './oauth/server/digests.js';
export type { JwkSet } from './oauth/server/keys/static-keys.js';
export type { IntrospectionOptions } from './oauth/server/tokens/introspection.js';
export type { JwtOptions } from './oauth/server/tokens/jwt.js';
export {
  type MintTokenOptions,
  mintToken,
  type SharedSecretJwtOptions,
} from './oauth/server/tokens/shared-secret-jwt.js';
export { unsafeAnyAudience } from './oauth/server/tokens/token-options.js';
export type { TokenProvider } from './oauth/server/tokens/token-provider.js';
export type { TrustedProxyOptions } from './oauth/server/trusted-proxy.js';
export type { AuthInit } from './protocol/caller.js';
export { insufficientScope } from './protocol/insufficient-scope.js';
export type { AuthContext, AuthProvider, AuthRequest, ResourceFacts } from './state/auth-provider.js';

const runtime: VerifierRuntime = {
  safeFetch: lazySafeFetch,
  // A Worker must not wait for the work of another request.
  sharesWork: !('WebSocketPair' in globalThis),
  ...(hasNode() && {
    loadDigest: async () => (await import('./adapters/node/oauth/digest.js')).nodeDigest,
  }),
};

/**
 * Identifies callers by signed tokens (JWT), which it verifies with the keys that their issuer publishes.
 *
 * @example
 * const auth = jwt({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' });
 * await serve(server, { auth });
 */
export const jwt: (options: JwtOptions) => TokenProvider = /* @__PURE__ */ makeJwt(runtime);

/**
 * Identifies callers by tokens of any form, about which it asks the authorization server (RFC 7662).
 *
 * @example
 * const auth = introspection({ issuer: 'https://login.example.com', clientId: 'mcp', clientSecret, audience: url });
 */
export const introspection: (options: IntrospectionOptions) => TokenProvider =
  /* @__PURE__ */ makeIntrospection(runtime);

/**
 * Identifies callers by tokens that are signed with a shared secret (HS256), as `mintToken` makes them: for tests and small setups.
 *
 * @example
 * const auth = sharedSecretJwt({ secret, issuer: 'my-company', audience: 'https://mcp.example.com/mcp' });
 */
export const sharedSecretJwt: (options: SharedSecretJwtOptions) => TokenProvider =
  /* @__PURE__ */ makeSharedSecretJwt(runtime);

/**
 * Identifies callers by API keys, for programs that cannot log in. A key is compared by its hash, in constant time.
 *
 * @example
 * const keys = [{ hash: process.env.NIGHTLY_KEY_HASH, subject: 'nightly-report', scopes: ['read'] }];
 * await serve(server, { auth: apiKey({ keys }) });
 */
export const apiKey: (options: ApiKeyOptions) => AuthProvider = /* @__PURE__ */ makeApiKey(runtime);

/**
 * Identifies callers by the headers of a gateway that has authenticated them. Requests that do not come from the gateway cannot name
 * a caller.
 *
 * @example
 * await serve(server, { auth: trustedProxy({ header: 'x-authenticated-user', addresses: ['10.0.0.0/8'] }) });
 */
export const trustedProxy: (options: TrustedProxyOptions) => AuthProvider =
  /* @__PURE__ */ makeTrustedProxy(runtime);

const presets: ProviderPresets = /* @__PURE__ */ makePresets(runtime);

/** Identifies callers by tokens of Auth0. */
export const auth0: ProviderPresets['auth0'] = presets.auth0;
/** Identifies callers by OAuth access tokens of Clerk. */
export const clerk: ProviderPresets['clerk'] = presets.clerk;
/** Identifies callers by access tokens of Amazon Cognito. */
export const cognito: ProviderPresets['cognito'] = presets.cognito;
/** Identifies callers by tokens of Microsoft Entra ID. */
export const entra: ProviderPresets['entra'] = presets.entra;
/** Identifies callers by tokens of Keycloak. */
export const keycloak: ProviderPresets['keycloak'] = presets.keycloak;
/** Identifies callers by tokens of a custom authorization server of Okta. */
export const okta: ProviderPresets['okta'] = presets.okta;
/** Identifies callers by tokens of WorkOS AuthKit. */
export const workos: ProviderPresets['workos'] = presets.workos;
