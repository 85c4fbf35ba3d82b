import type * as oauth from 'oauth4webapi';
import { isObject } from '../../../jsonrpc/message.js';
import type { AuthorizationServer } from '../../documents/authorization-server.js';
import type { UpstreamTokens } from './provider.js';
import { UpstreamError } from './upstream-error.js';

const MAX_TOKEN_LENGTH = 64 * 1024;

/** The tokens of a reply, with the time when they expire. */
export function tokensOf(reply: oauth.TokenEndpointResponse): UpstreamTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = reply;
  for (const token of [accessToken, refreshToken])
    if (token !== undefined && token.length > MAX_TOKEN_LENGTH)
      throw new UpstreamError(`A token has more than ${MAX_TOKEN_LENGTH} characters.`);
  return {
    accessToken,
    refreshToken,
    expiresAt: expiresIn === undefined ? undefined : Date.now() + expiresIn * 1000,
    scope,
  };
}

/** The method that a provider prefers for a secret. */
export function secretMethodOf({
  token_endpoint_auth_methods_supported: supported,
}: AuthorizationServer): string {
  const methods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];
  return methods.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

/** The ID token of a reply. The checks of oauth4webapi do not know the exceptions of providers, so it never sees the token. */
export async function idTokenOf(response: Response): Promise<string | undefined> {
  try {
    const body: unknown = await response.json();
    return isObject(body) && typeof body['id_token'] === 'string' ? body['id_token'] : undefined;
  } catch {
    return undefined;
  }
}
