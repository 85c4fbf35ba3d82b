import { calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { ExpiringMap } from '../../../async/expiring-map.js';
import { isObject } from '../../../jsonrpc/message.js';

// The public keys inside proofs. Importing one costs several times as much as verifying a signature with it, so they are kept.

/** Enough for RSA with 4096 bits. Larger keys make each check slow. */
const MAX_JWK_LENGTH = 1200;
const MAX_KEYS = 1000;
const KEEP_MS = 3_600_000;

/** The members that only private and symmetric keys have (RFC 7518, section 6). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** A key, and its name in the tokens that are bound to it (`jkt`). */
export interface ProofKey {
  readonly key: CryptoKey;
  readonly thumbprint: string;
}

/** Imports the keys of proofs. */
export class ProofKeys {
  readonly #keys: ExpiringMap<ProofKey>;

  constructor(now?: () => number) {
    this.#keys = new ExpiringMap({ maxEntries: MAX_KEYS, now });
  }

  /** The key of a proof's header; undefined if it is not a public key for the algorithm. */
  async read(jwk: unknown, algorithm: string): Promise<ProofKey | undefined> {
    if (!isObject(jwk) || jwk['kty'] === 'oct' || secretMembers.some((name) => Object.hasOwn(jwk, name)))
      return undefined;
    const text = JSON.stringify(jwk);
    if (text.length > MAX_JWK_LENGTH) return undefined;
    const name = `${algorithm} ${text}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const imported = await importPublic(jwk as unknown as JWK, algorithm);
    if (imported !== undefined) this.#keys.set(name, imported, KEEP_MS);
    return imported;
  }
}

async function importPublic(jwk: JWK, algorithm: string): Promise<ProofKey | undefined> {
  try {
    // `use`, `key_ops` and `alg` of the sender do not matter: the header of the proof has the algorithm.
    const { use: _, key_ops: __, ext: ___, alg: ____, ...bare } = jwk;
    const key = await importJWK(bare, algorithm);
    if (key instanceof Uint8Array || key.type !== 'public') return undefined;
    return { key, thumbprint: await calculateJwkThumbprint(bare, 'sha256') };
  } catch {
    return undefined;
  }
}
