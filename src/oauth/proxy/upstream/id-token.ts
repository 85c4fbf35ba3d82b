import * as jose from 'jose';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import type { IdTokenExpectations } from './provider.js';

// The verification of ID tokens: who has logged in, and for whom.

const ALGORITHMS = [
  'RS256',
  'PS256',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'RS384',
  'RS512',
  'PS384',
  'PS512',
];
const CLOCK_TOLERANCE_S = 30;
const MAX_AGE_S = 3600;
const MAX_LENGTH = 64 * 1024;

/** The keys of a provider, fetched when they are needed and cached. */
export type KeySet = jose.JWTVerifyGetKey;

/** Makes the key set of an address. */
export function remoteKeySet(url: string, fetch: SafeFetch): KeySet {
  return jose.createRemoteJWKSet(new URL(url), {
    [jose.customFetch]: (address, { headers, signal }) =>
      fetch(address, { headers, signal, redirect: 'error' }),
  });
}

/** The values that an ID token of one login must have. */
interface IdTokenCheck extends IdTokenExpectations {
  readonly keys: KeySet;
  readonly issuer: NonNullable<IdTokenExpectations['issuer']>;
  readonly clientId: string;
  /** The nonce that the login began with; undefined if none was sent. */
  readonly nonce: string | undefined;
}

/** Verifies an ID token and returns its claims. Throws if it is not for this login. */
export async function verifyIdToken(idToken: string, check: IdTokenCheck): Promise<JsonObject> {
  const { keys, issuer, clientId, nonce, algorithms = ALGORITHMS } = check;
  if (idToken.length > MAX_LENGTH) throw new Error(`The ID token has more than ${MAX_LENGTH} characters.`);
  const { payload } = await jose.jwtVerify(idToken, keys, {
    algorithms: [...algorithms],
    audience: clientId,
    clockTolerance: CLOCK_TOLERANCE_S,
    maxTokenAge: MAX_AGE_S,
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
    ...(typeof issuer !== 'function' && { issuer: typeof issuer === 'string' ? issuer : [...issuer] }),
  });
  const claims = payload as JsonObject;
  if (typeof issuer === 'function' && !issuer(claims))
    throw new Error('The ID token was issued by another issuer.');
  // OpenID Connect Core 1.0, section 3.1.3.7: a token for several audiences names the one that it was issued to.
  const { azp } = payload;
  const severalAudiences = Array.isArray(payload.aud) && payload.aud.length > 1;
  if (azp === undefined ? severalAudiences : azp !== clientId)
    throw new Error('The ID token was issued to another client.');
  if (nonce !== undefined && payload['nonce'] !== nonce)
    throw new Error('The ID token belongs to another login.');
  if (typeof payload.sub !== 'string' || payload.sub === '') throw new Error('The ID token has no subject.');
  return claims;
}
