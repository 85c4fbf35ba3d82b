// The entry `fullmcp/auth`: authorizes the callers of a server.

export { type BearerOptions, bearer, type ProviderOptions, type VerifyToken } from './oauth/server/bearer.js';
export type { AuthInit } from './protocol/caller.js';
export { insufficientScope } from './protocol/insufficient-scope.js';
export type { AuthContext, AuthProvider, AuthRequest, ResourceFacts } from './state/auth-provider.js';
