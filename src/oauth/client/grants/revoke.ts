import * as oauth from 'oauth4webapi';
import { noAuthentication } from '../hops/authentication.js';
import { callEndpoint } from '../hops/endpoint.js';
import { answeredError } from '../hops/failures.js';
import type { StoredTokens } from '../store/records.js';
import type { Grant, GrantContext } from './grant.js';

/**
 * Tells the authorization server that tokens must not be accepted any more (RFC 7009). Resolves to whether it can be told at all:
 * some servers have no endpoint for that.
 */
export async function revoke(
  context: GrantContext,
  grant: Pick<Grant, 'identityOf'>,
  tokens: Pick<StoredTokens, 'clientId' | 'accessToken' | 'refreshToken'>,
): Promise<boolean> {
  const { metadata } = context.target;
  const url = metadata.revocation_endpoint;
  if (url === undefined) return false;
  const { clientId, accessToken, refreshToken } = tokens;
  const known = await grant.identityOf(context, clientId);
  const { authentication, secret } = known ?? { authentication: noAuthentication };
  const client: oauth.Client = { client_id: clientId };
  // The refresh token first: most servers end its access tokens with it.
  const all = [
    ['refresh_token', refreshToken],
    ['access_token', accessToken],
  ] as const;
  for (const [hint, token] of all) {
    if (token === undefined) continue;
    try {
      await callEndpoint(context, {
        hop: 'revocation',
        url,
        send: (options) =>
          oauth.revocationRequest(metadata, client, authentication.authenticate, token, {
            ...options,
            additionalParameters: { token_type_hint: hint },
          }),
        read: oauth.processRevocationResponse,
        secrets: [token, secret],
      });
    } catch (error) {
      const answered = answeredError(error);
      // Google refuses what is revoked already, such as an access token whose refresh token was revoked.
      if (answered === 'invalid_token') continue;
      // RFC 7009, 2.2.1: a server may not be able to revoke access tokens, which end by themselves.
      if (hint === 'refresh_token' || answered !== 'unsupported_token_type') throw error;
    }
  }
  return true;
}
