import * as oauth from 'oauth4webapi';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { StoredTokens } from '../store/records.js';
import { importParameters } from './authentication.js';

// The key of sender-constrained tokens, and its proofs (RFC 9449).

/** The algorithms for new keys, the best first. */
const ALGORITHMS = ['ES256', 'Ed25519', 'ES384', 'PS256', 'RS256'];

/** The methods that the handle of oauth4webapi has, besides those in its types. A test checks that they exist. */
interface ProofMaker extends oauth.DPoPHandle {
  addProof(url: URL, headers: Headers, method: string, accessToken?: string): Promise<void>;
  cacheNonce(response: Response, url: URL): void;
}

/** A key pair, and the nonces that servers have sent for its proofs. */
export class DpopKey {
  readonly handle: oauth.DPoPHandle;
  readonly #pair: oauth.CryptoKeyPair;

  private constructor(pair: oauth.CryptoKeyPair) {
    this.#pair = pair;
    this.handle = oauth.DPoP({}, pair);
  }

  /** Makes a new key, for an algorithm that the authorization server supports. */
  static async create(metadata: oauth.AuthorizationServer): Promise<DpopKey> {
    const { dpop_signing_alg_values_supported: supported } = metadata;
    const algorithm = ALGORITHMS.find((name) => supported?.includes(name)) ?? 'ES256';
    return new DpopKey(await oauth.generateKeyPair(algorithm, { extractable: true }));
  }

  /** The key of stored tokens. */
  static async restore({ privateKey, publicKey }: NonNullable<StoredTokens['dpopKey']>): Promise<DpopKey> {
    const read = async (jwk: JsonObject, usage: KeyUsage): Promise<CryptoKey> => {
      const { alg, key_ops: _, ...rest } = jwk as JsonWebKey;
      const how = importParameters(alg ?? 'ES256') ?? { name: 'ECDSA', namedCurve: 'P-256' };
      return crypto.subtle.importKey('jwk', rest, how, true, [usage]);
    };
    const pair = { privateKey: await read(privateKey, 'sign'), publicKey: await read(publicKey, 'verify') };
    return new DpopKey(pair);
  }

  /** The key for the store. */
  async export(): Promise<NonNullable<StoredTokens['dpopKey']>> {
    const { privateKey, publicKey } = this.#pair;
    const alg = algorithmOf(publicKey);
    const print = async (key: CryptoKey): Promise<JsonObject> => ({
      ...((await crypto.subtle.exportKey('jwk', key)) as JsonObject),
      alg,
    });
    return { privateKey: await print(privateKey), publicKey: await print(publicKey) };
  }

  /** A proof for one request. */
  async prove(url: string, method: string, accessToken: string): Promise<string> {
    const headers = new Headers();
    await (this.handle as ProofMaker).addProof(new URL(url), headers, method, accessToken);
    return headers.get('dpop') as string;
  }

  /** Uses a nonce for the following proofs to the same server. */
  learnNonce(url: string, nonce: string): void {
    const response = new Response(null, { headers: { 'dpop-nonce': nonce } });
    (this.handle as ProofMaker).cacheNonce(response, new URL(url));
  }
}

function algorithmOf({ algorithm }: CryptoKey): string {
  const { name, namedCurve, hash } = algorithm as Partial<EcKeyAlgorithm & RsaHashedKeyAlgorithm>;
  const bits = (hash as { name?: string } | undefined)?.name?.slice(-3) ?? namedCurve?.slice(-3) ?? '';
  if (name === 'ECDSA') return `ES${bits}`;
  if (name === 'RSA-PSS') return `PS${bits}`;
  return name === 'RSASSA-PKCS1-v1_5' ? `RS${bits}` : 'Ed25519';
}
