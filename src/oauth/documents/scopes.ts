/** The usable scopes of a peer's list: once each, without those that RFC 6749 (section 3.3) does not allow in a request. */
export function readScopes(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes.slice(0, MAX_SCOPES))].filter((scope) =>
    /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope),
  );
}

const MAX_SCOPES = 1000;
