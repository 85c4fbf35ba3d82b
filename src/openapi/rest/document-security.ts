// The security schemes of a server's document.

import type { AuthProvider } from '../../state/auth-provider.js';

/** The facts about the authentication of a server. */
export interface SecurityParts {
  /** The provider of the server's `auth`; undefined if there is none, or if it is a function. */
  readonly provider: AuthProvider | undefined;
  /** The security schemes, in place of those of the provider. */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined;
}

/** The schemes by their names in `WWW-Authenticate`. A key in a header of its own cannot be told from its scheme. */
const known: Readonly<Record<string, object>> = {
  Bearer: { type: 'http', scheme: 'bearer' },
  Basic: { type: 'http', scheme: 'basic' },
  DPoP: { type: 'http', scheme: 'DPoP' },
};

function schemesBy({ provider, securitySchemes }: SecurityParts): Readonly<Record<string, object>> {
  if (securitySchemes !== undefined) return securitySchemes;
  const names = provider === undefined ? [] : (provider.schemes ?? ['Bearer']);
  return Object.fromEntries(
    names.flatMap((name) =>
      Object.hasOwn(known, name) ? [[name.toLowerCase(), known[name] as object]] : [],
    ),
  );
}

/** The part of `components`. */
export function schemesOf(parts: SecurityParts): object {
  const schemes = schemesBy(parts);
  return Object.keys(schemes).length === 0 ? {} : { securitySchemes: schemes };
}

/** The part of the document: any of the schemes, or none where callers may be anonymous. */
export function securityOf(parts: SecurityParts): object {
  const names = Object.keys(schemesBy(parts));
  if (names.length === 0) return {};
  const isOptional = parts.provider === undefined || parts.provider.optional === true;
  return { security: [...(isOptional ? [{}] : []), ...names.map((name) => ({ [name]: [] }))] };
}
