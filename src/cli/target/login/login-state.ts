// A login as it is shown: everything about its tokens but the tokens.

import { isExpired } from '../../../oauth/client/store/records.js';
import { hasLogins } from './login-folder.js';
import { keptTokens } from './login-store.js';

export interface LoginState {
  readonly server: string;
  /** Whether there are tokens that can be used, or refreshed. */
  readonly loggedIn: boolean;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** The end of the access token; absent if the authorization server does not say. */
  readonly expiresAt?: string;
  readonly canRefresh?: boolean;
}

/** The login that is kept for a server. Asks no server whether it still counts. */
export async function loginState(server: string): Promise<LoginState> {
  const tokens = hasLogins() ? await keptTokens(server) : undefined;
  if (tokens === undefined) return { server, loggedIn: false };
  const { issuer, scopes, expiresAt, refreshToken } = tokens;
  const canRefresh = refreshToken !== undefined;
  return {
    server,
    loggedIn: canRefresh || !isExpired(tokens),
    issuer,
    scopes,
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    canRefresh,
  };
}

/** A login in one line. */
export function describeLogin({ server, issuer, scopes = [], expiresAt, canRefresh }: LoginState): string {
  const facts = [
    `by ${issuer}`,
    ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []),
    ...(expiresAt === undefined ? [] : [`${canRefresh ? 'refreshed after' : 'until'} ${expiresAt}`]),
  ];
  return `Logged in to ${server}: ${facts.join(', ')}.`;
}
