import type { ProviderOptions } from '../bearer.js';
import { type ClaimNames, checkClaimNames } from './claims.js';

// The options that all providers for tokens share.

/**
 * Accepts tokens for any audience: a token that another service got from the same issuer is then a token for this server.
 * **Dangerous**: use it only with issuers that put no audience into their tokens, and name the accepted `clientIds` then.
 */
export const unsafeAnyAudience: unique symbol = Symbol('fullmcp.unsafeAnyAudience');

/** The options of `jwt`, `introspection` and `sharedSecretJwt`. */
export interface TokenOptions extends ProviderOptions {
  /**
   * The audience that a token must be for (`aud`), usually the URL of this server. One of several is enough. It is compared as text.
   * Required, unless `[unsafeAnyAudience]` is set.
   */
  readonly audience?: string | readonly string[] | undefined;
  /** Accepts tokens for any audience. See `unsafeAnyAudience`. Default: false. */
  readonly [unsafeAnyAudience]?: boolean | undefined;
  /** The clients whose tokens are accepted. Default: all clients of the issuer. */
  readonly clientIds?: readonly string[] | undefined;
  /** The scopes that clients may request, for the protected resource metadata. Default: clients choose. */
  readonly scopes?: readonly string[] | undefined;
  /** The scopes that every token must have. A token without them gets 403, after which clients ask for them. Default: none. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** The names of the claims that describe the caller. Default: those of the standards. */
  readonly claims?: ClaimNames | undefined;
  /** The difference between the clocks of the issuer and this server. Default: 5 s. */
  readonly clockToleranceSeconds?: number | undefined;
  /**
   * The time for which a verified token is not verified again; never longer than the token is valid. 0 turns the cache off.
   * Default: 300 s, or 30 s if another server is asked (`introspection`).
   */
  readonly cacheSeconds?: number | undefined;
  /**
   * Whether tokens that are bound to a key (DPoP) are accepted, or are the only ones. Bound tokens are never accepted without the
   * proof of their key. Default: bound tokens are rejected.
   */
  readonly dpop?: 'supported' | 'required' | undefined;
  /** Whether proofs must have a nonce of this server, so that they cannot be made in advance. Default: false. */
  readonly dpopNonce?: boolean | undefined;
  /** Whether `revoke` can be used. Each token that is not in the cache is then looked up in the store. Default: false. */
  readonly revocable?: boolean | undefined;
}

/** The table of `TokenOptions`. */
export const tokenTable = {
  audience: 'any',
  clientIds: 'strings',
  scopes: 'strings',
  requiredScopes: 'strings',
  claims: 'any',
  clockToleranceSeconds: { is: 'number', max: 300, default: 5 },
  cacheSeconds: { is: 'number', max: 300, default: 300 },
  optional: 'boolean',
  dpop: { oneOf: ['supported', 'required'] },
  dpopNonce: 'boolean',
  revocable: 'boolean',
} as const;

/** Throws a TypeError that says which option is wrong, as far as the table does not. */
export function checkTokenOptions(functionName: string, options: TokenOptions): void {
  const wrong = (what: string): TypeError => new TypeError(`${functionName}: ${what}`);
  const { audience, clientIds, dpop, dpopNonce } = options;
  if (options[unsafeAnyAudience] !== true && !isNames(audience))
    throw wrong(
      '`audience` is required: the text that tokens for this server have as their `aud`, usually the URL of the server. Without it, a token for any other service of the issuer would be accepted.',
    );
  if (options[unsafeAnyAudience] === true && audience !== undefined)
    throw wrong('`audience` and `[unsafeAnyAudience]` exclude each other. Remove one of them.');
  // An empty array would read as "no limit" to some and as "nobody" to others.
  if (clientIds?.length === 0) throw wrong('`clientIds` must name at least one client.');
  if (dpopNonce && dpop === undefined) throw wrong('`dpopNonce` needs `dpop`.');
  checkClaimNames(functionName, options.claims);
}

function isNames(value: TokenOptions['audience']): boolean {
  const names = typeof value === 'string' ? [value] : value;
  return (
    Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === 'string' && one !== '')
  );
}

/** The accepted audiences; undefined if all are. */
export function audiencesOf({ audience }: TokenOptions): readonly string[] | undefined {
  return typeof audience === 'string' ? [audience] : audience;
}
