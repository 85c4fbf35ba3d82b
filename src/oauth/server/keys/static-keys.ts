import {
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { quote } from '../../../protocol/encoding/shorten.js';

// Keys that the program has, in place of those that an issuer publishes.

const MAX_KEYS = 100;

/** A set of public keys (RFC 7517). */
export interface JwkSet {
  /**
   * The keys. Each needs its `kty`; several of one kind need a `kid`, which tokens name. Keys for something else than signatures, as issuers
   * publish them as well, are not used.
   */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Finds the keys of one issuer. */
export interface KeyFinder {
  /** The key that signed a token. Throws an error of jose if the issuer has no such key, or several. */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>;
  /** Looks for new keys. Resolves with whether they have changed. */
  refresh(): Promise<boolean>;
}

/** The rules for keys that never change. */
export interface StaticKeyRules {
  /** The name of the function in errors. */
  readonly name: string;
  /** The algorithms of the tokens that are accepted. */
  readonly algorithms: readonly string[];
}

/** Keys that never change. Throws a TypeError if they cannot be used, or if none of them can ever verify a token. */
export function staticKeys(jwks: JwkSet, rules: StaticKeyRules): KeyFinder {
  const keys = readKeys(jwks, rules);
  const find = createLocalJWKSet({ keys } as unknown as JSONWebKeySet);
  const areNamed = keys.some(({ kid }) => typeof kid === 'string');
  return {
    // The tokens of a single key may name it, although the key does not know its name.
    find: ({ kid, ...header }, token) =>
      find(areNamed && kid !== undefined ? { ...header, kid } : header, token),
    refresh: () => Promise.resolve(false),
  };
}

function readKeys(jwks: unknown, { name, algorithms }: StaticKeyRules): JwkSet['keys'] {
  const keys: unknown = isObject(jwks) ? jwks['keys'] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    throw new TypeError(
      `${name}: \`jwks\` must be a key set with 1 to ${MAX_KEYS} public keys: { keys: [{ kty, … }] }.`,
    );
  const nameless = new Set<string>();
  const usable: JsonObject[] = [];
  let firstUnused: string | undefined;
  for (const [at, key] of keys.entries()) {
    const where = `${name}: \`jwks.keys[${at}]\``;
    if (!isObject(key) || typeof key['kty'] !== 'string')
      throw new TypeError(
        `${where} must be a public key as a JWK, an object with \`kty\`. For PEM: createPublicKey(pem).export({ format: "jwk" }).`,
      );
    const mistake = secretIn(key);
    if (mistake !== undefined) throw new TypeError(`${where} ${mistake}`);
    const unused = reasonNotToUse(key, algorithms);
    if (unused !== undefined) {
      firstUnused ??= `${where} ${unused}`;
      continue;
    }
    const broken = mistakeInNumbers(key);
    if (broken !== undefined) throw new TypeError(`${where} ${broken}`);
    if (typeof key['kid'] !== 'string') {
      if (nameless.has(key['kty']))
        throw new TypeError(`${where} needs a \`kid\`, because another key of its kind has none.`);
      nameless.add(key['kty']);
    }
    usable.push(key);
  }
  if (usable.length === 0) throw new TypeError(`${firstUnused} No other key can verify a token either.`);
  return usable;
}

function secretIn({ kty, d, k }: JsonObject): string | undefined {
  if (kty === 'oct' || k !== undefined)
    return 'is a shared secret, not a public key. For tokens with a shared secret (HS256) use sharedSecretJwt.';
  return d === undefined
    ? undefined
    : 'is a private key. Pass the public one: a server only verifies tokens.';
}

/** A sentence that says why a key never verifies a token; undefined if it does. A published set has keys for other purposes, too. */
function reasonNotToUse(key: JsonObject, algorithms: readonly string[]): string | undefined {
  const { use, key_ops, alg } = key;
  if (use !== undefined && use !== 'sig')
    return `cannot verify tokens: its \`use\` is ${quote(String(use), 40)}. Pass the key of the issuer whose \`use\` is "sig".`;
  if (Array.isArray(key_ops) && !key_ops.includes('verify'))
    return 'cannot verify tokens: its `key_ops` lack "verify". Pass the public key that belongs to the key which signs.';
  const possible = algorithmsOf(key);
  if (possible.length === 0)
    return 'is of a kind that cannot verify tokens: it must be RSA, EC with the curve P-256, P-384 or P-521, or OKP with the curve Ed25519.';
  if (alg !== undefined && !possible.includes(alg as string))
    return `is for the algorithm ${quote(String(alg), 40)}, which a key of its kind does not have: ${possible.join(', ')}.`;
  const own = alg === undefined ? possible : [alg as string];
  return own.some((one) => algorithms.includes(one))
    ? undefined
    : `is for ${own.join(', ')}, and \`algorithms\` accepts only ${algorithms.join(', ')}. Add its algorithm there.`;
}

const rsaAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
/** The algorithms of a curve, and the bytes of each of its numbers. */
const curves = new Map<unknown, { kty: string; algorithms: readonly string[]; bytes: number }>([
  ['P-256', { kty: 'EC', algorithms: ['ES256'], bytes: 32 }],
  ['P-384', { kty: 'EC', algorithms: ['ES384'], bytes: 48 }],
  ['P-521', { kty: 'EC', algorithms: ['ES512'], bytes: 66 }],
  ['Ed25519', { kty: 'OKP', algorithms: ['EdDSA', 'Ed25519'], bytes: 32 }],
]);

function algorithmsOf({ kty, crv }: JsonObject): readonly string[] {
  if (kty === 'RSA') return rsaAlgorithms;
  const curve = curves.get(crv);
  return curve !== undefined && curve.kty === kty ? curve.algorithms : [];
}

/** RFC 7518, section 3.3: an RSA key has 2048 bits or more. */
const MIN_RSA_BYTES = 256;

/** A sentence about the numbers of a key, if no signature can be verified with them. */
function mistakeInNumbers({ kty, crv, n, e, x, y }: JsonObject): string | undefined {
  if (kty === 'RSA') {
    if (byteLength(n) === 0 || byteLength(e) === 0)
      return 'is incomplete: an RSA key has `n` and `e`, each as base64url.';
    return byteLength(n) < MIN_RSA_BYTES
      ? 'is too short: an RSA key needs 2048 bits or more, and tokens of a shorter one are refused.'
      : undefined;
  }
  const { bytes } = curves.get(crv) as { bytes: number };
  const numbers = kty === 'EC' ? [x, y] : [x];
  return numbers.every((one) => byteLength(one) === bytes)
    ? undefined
    : `is incomplete: a key with the curve ${String(crv)} has ${kty === 'EC' ? '`x` and `y`, each' : '`x`,'} of ${bytes} bytes as base64url.`;
}

/** The bytes of base64url without padding; 0 if it is something else. */
function byteLength(value: unknown): number {
  return typeof value === 'string' && /^[\w-]+$/.test(value) ? Math.floor((value.length * 3) / 4) : 0;
}
