// A login as it is shown: everything about its tokens but the tokens.

import { isExpired } from '../../../oauth/client/store/records.js';
import { maskedUrl } from '../../hosts/mask.js';
import { hasLogins } from './login-folder.js';
import { keptTokens, loginServers } from './login-store.js';

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

/** A login in a list. */
export interface ListedLogin extends LoginState {
  /** Why the tokens cannot be used, if they cannot be read. */
  readonly problem?: string;
}

/** All logins that are kept. Values in the queries of their addresses may be secrets, and are not shown. */
export async function allLogins(): Promise<readonly ListedLogin[]> {
  if (!hasLogins()) return [];
  const servers = await loginServers();
  const logins = await Promise.all(
    servers.map(async (server): Promise<ListedLogin> => {
      try {
        return await loginState(server);
      } catch (error) {
        return { server, loggedIn: false, problem: (error as Error).message };
      }
    }),
  );
  return logins
    .filter(({ loggedIn, issuer, problem }) => loggedIn || (issuer ?? problem) !== undefined)
    .map((login) => ({ ...login, server: maskedUrl(login.server) }));
}

/** A login in one line. */
export function describeLogin(login: ListedLogin): string {
  const { server, loggedIn, issuer, scopes = [], expiresAt, canRefresh, problem } = login;
  if (problem !== undefined) return `Not logged in to ${server}: ${problem}`;
  if (!loggedIn) return `Not logged in to ${server}: the login by ${issuer} has ended.`;
  const facts = [
    `by ${issuer}`,
    ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []),
    ...(expiresAt === undefined ? [] : [`${canRefresh ? 'refreshed after' : 'until'} ${expiresAt}`]),
  ];
  return `Logged in to ${server}: ${facts.join(', ')}.`;
}
