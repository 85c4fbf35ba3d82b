import {
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { isObject } from '../../../jsonrpc/message.js';

// Keys that the program has, in place of those that an issuer publishes.

const MAX_KEYS = 100;

/** A set of public keys (RFC 7517). */
export interface JwkSet {
  /** The keys. Each needs its `kty`; several of one kind need a `kid`, which tokens name. */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Finds the keys of one issuer. */
export interface KeyFinder {
  /** The key that signed a token. Throws an error of jose if the issuer has no such key, or several. */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>;
  /** Looks for new keys. Resolves with whether they have changed. */
  refresh(): Promise<boolean>;
}

/** Keys that never change. Throws a TypeError, which begins with `name`, if they cannot be used. */
export function staticKeys(name: string, jwks: JwkSet): KeyFinder {
  const keys = readKeys(name, jwks);
  const find = createLocalJWKSet({ keys } as unknown as JSONWebKeySet);
  const areNamed = keys.some(({ kid }) => typeof kid === 'string');
  return {
    // The tokens of a single key may name it, although the key does not know its name.
    find: ({ kid, ...header }, token) =>
      find(areNamed && kid !== undefined ? { ...header, kid } : header, token),
    refresh: () => Promise.resolve(false),
  };
}

function readKeys(name: string, jwks: unknown): JwkSet['keys'] {
  const keys = isObject(jwks) ? jwks['keys'] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    throw new TypeError(
      `${name}: \`jwks\` must be a key set with 1 to ${MAX_KEYS} public keys: { keys: [{ kty, … }] }.`,
    );
  const nameless = new Set<string>();
  for (const [at, key] of keys.entries()) {
    const fail = (why: string): TypeError => new TypeError(`${name}: \`jwks.keys[${at}]\` ${why}`);
    if (!isObject(key) || typeof key['kty'] !== 'string')
      throw fail(
        'must be a public key as a JWK, an object with `kty`. For PEM: createPublicKey(pem).export({ format: "jwk" }).',
      );
    const { kty, kid, d, k } = key;
    if (kty === 'oct' || k !== undefined)
      throw fail(
        'is a shared secret, not a public key. For tokens with a shared secret (HS256) use sharedSecretJwt.',
      );
    if (d !== undefined) throw fail('is a private key. Pass the public one: a server only verifies tokens.');
    if (typeof kid === 'string') continue;
    if (nameless.has(kty)) throw fail('needs a `kid`, because another key of its kind has none.');
    nameless.add(kty);
  }
  return keys as JwkSet['keys'];
}
