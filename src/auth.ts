// The entry `fullmcp/auth`: authorizes the callers of a server.

export { anyOf } from './oauth/server/any-of.js';
export { type ApiKey, type ApiKeyOptions, apiKey } from './oauth/server/api-key.js';
export { type BearerOptions, bearer, type ProviderOptions, type VerifyToken } from './oauth/server/bearer.js';
export { hashApiKey } from './oauth/server/digests.js';
export {
  type GatewaySecret,
  type TrustedProxyOptions,
  trustedProxy,
} from './oauth/server/trusted-proxy.js';
export type { AuthInit } from './protocol/caller.js';
export { insufficientScope } from './protocol/insufficient-scope.js';
export type { AuthContext, AuthProvider, AuthRequest, ResourceFacts } from './state/auth-provider.js';
