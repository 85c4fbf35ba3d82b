import type { AuthorizationServer } from 'oauth4webapi';

// The choice of scopes. Spec 2026-07-28, Authorization, Scope Selection Strategy.

const OFFLINE = 'offline_access';

export interface ScopeSources {
  /** The scopes of the challenge; undefined if it names none. */
  readonly challenge: readonly string[] | undefined;
  /** The scopes in the metadata of the resource. */
  readonly resource: readonly string[];
  /** The scopes that the program wants. */
  readonly wanted: readonly string[];
  /** Every scope that was asked for before: asking for more must not lose these. */
  readonly asked: readonly string[];
}

/**
 * The scopes to ask for: those of the challenge, or else all of the resource; with those that the program wants and those of
 * earlier logins. `offline_access` only if the authorization server lists it, and never alone.
 */
export function chooseScopes(sources: ScopeSources, metadata: AuthorizationServer): readonly string[] {
  const { challenge, resource, wanted, asked } = sources;
  const chosen = new Set([...asked, ...(challenge ?? resource), ...wanted]);
  const mayStayLoggedIn = metadata.scopes_supported?.includes(OFFLINE) === true;
  chosen.delete(OFFLINE);
  if (mayStayLoggedIn && chosen.size > 0) chosen.add(OFFLINE);
  return [...chosen];
}

/** The scopes to register the client with: some servers refuse later what was not registered. */
export function scopesToRegister(scopes: readonly string[], resource: readonly string[]): readonly string[] {
  return [...new Set([...scopes, ...resource])];
}
