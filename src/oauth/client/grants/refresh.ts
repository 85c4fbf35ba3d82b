import * as oauth from 'oauth4webapi';
import type { StoredTokens } from '../store/records.js';
import { type ClientIdentity, type GrantContext, type IssuedTokens, requestTokens } from './grant.js';

/** Asks for new tokens with a refresh token. The old refresh token is kept if there is no new one, and so are the scopes. */
export async function refresh(
  context: GrantContext,
  identity: ClientIdentity,
  tokens: Pick<StoredTokens, 'refreshToken' | 'scopes' | 'resource'>,
): Promise<IssuedTokens> {
  const { metadata } = context.target;
  const { resource, scopes } = tokens;
  const refreshToken = tokens.refreshToken as string;
  const issued = await requestTokens(context, {
    hop: 'refresh',
    identity,
    send: (client, options) =>
      oauth.refreshTokenGrantRequest(metadata, client, identity.authentication.authenticate, refreshToken, {
        ...options,
        ...(resource !== undefined && { additionalParameters: { resource } }),
      }),
    read: (client, response) => oauth.processRefreshTokenResponse(metadata, client, response),
    secrets: [refreshToken],
  });
  return { ...issued, refreshToken: issued.refreshToken ?? refreshToken, scopes: issued.scopes ?? scopes };
}
