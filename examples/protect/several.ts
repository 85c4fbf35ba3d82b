import { type AuthProvider, anyOf, apiKey, jwt } from 'fullmcp/auth';

/** People log in, programs have a key, and everybody else sees what is public. */
export function severalKinds(issuer: string, audience: string, hash: string): AuthProvider {
  // #region several
  const auth = anyOf(
    apiKey({ keys: [{ hash, subject: 'nightly-report', scopes: ['notes:read'] }], prefix: 'key_' }),
    jwt({ issuer, audience, optional: true }),
  );
  // #endregion
  return auth;
}
