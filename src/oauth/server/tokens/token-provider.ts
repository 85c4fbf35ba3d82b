import type { Auth } from '../../../protocol/call.js';
import type { McpError } from '../../../protocol/errors.js';
import { insufficientScope } from '../../../protocol/insufficient-scope.js';
import type { AuthContext, AuthProvider, AuthRequest, ResourceFacts } from '../../../state/auth-provider.js';
import { checkToken, invalidToken, MAX_TOKEN, readAuthorization, unknownToken } from '../credentials.js';
import { TokenDigest } from '../digests.js';
import { ProofChecker } from '../dpop/proof-checker.js';
import { invalidBinding } from '../dpop/proof-errors.js';
import type { VerifierRuntime } from '../keys/runtime.js';
import { Revocations } from './revocations.js';
import type { RejectedToken, TokenCache, TokenVerdict, VerifiedToken } from './token-cache.js';
import type { TokenOptions } from './token-options.js';

/** Identifies callers by tokens. */
export interface TokenProvider extends AuthProvider {
  /**
   * Rejects a token from now on, in this process at once, and in the other processes of the server when they verify it again, after
   * `cacheSeconds` at the latest. Streams and WebSockets of the token end about a minute later. Needs the option `revocable`.
   */
  revoke(token: string): Promise<void>;
}

/** The parts in which the providers for tokens differ. */
export interface TokenProviderParts {
  readonly name: string;
  readonly options: TokenOptions;
  readonly runtime: VerifierRuntime;
  readonly cache: TokenCache;
  /** Checks a token that is not in the cache. Throws only if that is impossible now. */
  readonly verify: (token: string) => Promise<TokenVerdict>;
  readonly authorizationServers?: readonly string[] | undefined;
  readonly start?: ((context: AuthContext) => void) | undefined;
  readonly close?: (() => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** Makes a provider: the scheme and the token of a request, the cache, the proof of the key, the scopes. */
export function createTokenProvider(parts: TokenProviderParts): TokenProvider {
  const { name, options, runtime, cache, now } = parts;
  const { dpop, requiredScopes = [], optional = false } = options;
  const digest = new TokenDigest();
  const proofs = new ProofChecker({ nonce: options.dpopNonce, now, digest });
  const revocations = new Revocations(options.revocable === true);
  const flights = new Map<string, Promise<TokenVerdict>>();
  /** The servers that use the provider, the newest last. */
  const users: AuthContext[] = [];

  function use(context: AuthContext): void {
    proofs.start(context);
    revocations.start(context);
  }

  function check(request: AuthRequest): Auth | undefined | Promise<Auth | undefined> {
    const authorization = readAuthorization(request);
    const scheme = authorization?.scheme;
    if (authorization === undefined || (scheme !== 'bearer' && scheme !== 'dpop')) return undefined;
    if (scheme === 'dpop' && dpop === undefined)
      throw unknownToken('This server does not accept tokens with the scheme DPoP. Use Bearer.');
    const { credentials: token } = authorization;
    const presented: Presented = { token, scheme, request };
    // Before the digest, which takes as long as the text.
    if (token.length > MAX_TOKEN) checkToken(token);
    const tokenDigest = digest.of(token);
    return typeof tokenDigest === 'string'
      ? find(presented, tokenDigest)
      : tokenDigest.then((one) => find(presented, one));
  }

  function find(presented: Presented, tokenDigest: string): Auth | Promise<Auth> {
    const known = cache.get(tokenDigest);
    if (known !== undefined) return conclude(known, presented, tokenDigest);
    // The form of a known token was checked when it was new.
    const token = checkToken(presented.token);
    return verifyOnce(token, tokenDigest).then((verdict) => conclude(verdict, presented, tokenDigest));
  }

  /** Requests with the same token at the same time share one check. */
  function verifyOnce(token: string, tokenDigest: string): Promise<TokenVerdict> {
    const under = flights.get(tokenDigest);
    if (under !== undefined) return under;
    const { generation } = cache;
    const flight = verify(token, tokenDigest)
      .then((verdict) => {
        cache.add(tokenDigest, verdict, generation);
        return verdict;
      })
      .finally(() => {
        if (flights.get(tokenDigest) === flight) flights.delete(tokenDigest);
      });
    if (runtime.sharesWork) flights.set(tokenDigest, flight);
    return flight;
  }

  async function verify(token: string, tokenDigest: string): Promise<TokenVerdict> {
    const verdict = await parts.verify(token);
    // Only for valid tokens: nobody can fill the store's time with invented ones.
    if ('auth' in verdict && (await revocations.has(tokenDigest)))
      return { reason: 'The token was revoked.', isFinal: true };
    return verdict;
  }

  function conclude(verdict: TokenVerdict, presented: Presented, tokenDigest: string): Auth | Promise<Auth> {
    if (!('auth' in verdict)) throw rejected(verdict, presented);
    const { auth } = verdict;
    checkBinding(verdict, presented);
    for (const scope of requiredScopes) {
      if (!auth.scopes.includes(scope)) throw insufficientScope(requiredScopes);
    }
    if (verdict.jkt === undefined) return auth;
    const { request } = presented;
    return proofs.check({ request, tokenDigest, jkt: verdict.jkt }).then(() => auth);
  }

  function checkBinding({ jkt }: VerifiedToken, { scheme }: Presented): void {
    if (jkt !== undefined && dpop === undefined)
      throw invalidToken('The token is bound to a key (cnf), and this server does not check proofs of keys.');
    const refuse = (message: string): McpError => invalidBinding(message, proofs.algorithms);
    if (jkt !== undefined && scheme !== 'dpop')
      throw refuse('The token is bound to a key (cnf.jkt): use the scheme DPoP and a proof of the key.');
    if (jkt === undefined && dpop === 'required')
      throw refuse('This server accepts only tokens that are bound to a key (cnf.jkt).');
    if (jkt === undefined && scheme === 'dpop')
      throw refuse('The token is not bound to a key (cnf.jkt): use the scheme Bearer.');
  }

  function rejected({ reason, isForeign }: RejectedToken, { scheme }: Presented): McpError {
    if (isForeign) return unknownToken(reason);
    return scheme === 'dpop' ? invalidBinding(reason, proofs.algorithms) : invalidToken(reason);
  }

  return {
    check,
    optional,
    schemes: schemesOf(dpop),
    resource: resourceOf(parts, proofs.algorithms),
    async start(context) {
      await digest.load(runtime);
      users.push(context);
      use(context);
      parts.start?.(context);
    },
    close(context) {
      const at = context === undefined ? users.length - 1 : users.lastIndexOf(context);
      if (at >= 0) users.splice(at, 1);
      const other = users.at(-1);
      // The store of the server that was closed may be closed as well.
      if (other !== undefined) use(other);
      else parts.close?.();
    },
    // The proof of a key belongs to the request that has opened the stream, and was checked then.
    async isStillValid(request) {
      const token = readAuthorization(request)?.credentials ?? '';
      const tokenDigest = await digest.of(token);
      return 'auth' in (cache.get(tokenDigest) ?? (await verifyOnce(token, tokenDigest)));
    },
    async revoke(token) {
      const tokenDigest = await digest.of(token);
      await revocations.add(tokenDigest, name);
      cache.delete(tokenDigest);
      // A check that is under way may have begun before.
      flights.delete(tokenDigest);
    },
  };
}

interface Presented {
  readonly token: string;
  readonly scheme: 'bearer' | 'dpop';
  readonly request: AuthRequest;
}

function schemesOf(dpop: TokenOptions['dpop']): readonly string[] {
  if (dpop === undefined) return ['Bearer'];
  return dpop === 'required' ? ['DPoP'] : ['Bearer', 'DPoP'];
}

function resourceOf(
  { authorizationServers = [], options }: TokenProviderParts,
  dpopAlgorithms: readonly string[],
): ResourceFacts | undefined {
  const { scopes, requiredScopes, dpop } = options;
  if (authorizationServers.length === 0) return undefined;
  return {
    authorizationServers,
    scopes: scopes?.filter((scope) => scope !== 'offline_access'),
    requiredScopes,
    dpop,
    ...(dpop !== undefined && { dpopAlgorithms }),
  };
}
