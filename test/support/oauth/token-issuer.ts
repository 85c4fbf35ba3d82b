import {
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { nodeDigest } from '../../../src/adapters/node/oauth/digest.js';
import type { SafeFetch } from '../../../src/oauth/fetch/safe-fetch.js';
import { SafeFetchError } from '../../../src/oauth/fetch/safe-fetch.js';
import type { VerifierRuntime } from '../../../src/oauth/server/keys/runtime.js';
import type { AuthContext, AuthRequest } from '../../../src/state/auth-provider.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Store } from '../../../src/state/store.js';

// An issuer of tokens without a network: its documents come through a fetch that the test passes to the provider.

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface IssuerSetup {
  /** Default: `https://issuer.example`. */
  readonly issuer?: string;
  readonly alg?: string;
  /** The path at which the metadata is. Default: that of RFC 8414. */
  readonly metadataUrl?: string;
  readonly jwksUri?: string;
}

export class TokenIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly metadataUrl: string;
  keys: SigningKey[] = [];
  /** The URLs that were fetched. */
  fetched: string[] = [];
  /** Whether the endpoint of the keys answers. */
  isDown = false;
  /** Replaces the reply of the endpoint of the keys. */
  keysReply: (() => Response | Promise<Response>) | undefined;

  private constructor({ issuer = 'https://issuer.example', metadataUrl, jwksUri }: IssuerSetup) {
    this.issuer = issuer;
    const { origin } = new URL(issuer);
    this.jwksUri = jwksUri ?? `${origin}/keys`;
    this.metadataUrl = metadataUrl ?? `${origin}/.well-known/oauth-authorization-server`;
  }

  static async create(setup: IssuerSetup = {}): Promise<TokenIssuer> {
    const made = new TokenIssuer(setup);
    await made.addKey('key-1', setup.alg);
    return made;
  }

  async addKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
    const { privateKey, publicKey } = await keyPair(`${this.issuer} ${kid}`, alg);
    const key = { kid, alg, privateKey, publicJwk: await exportJWK(publicKey) };
    this.keys.push(key);
    return key;
  }

  get keyFetches(): number {
    return this.fetched.filter((url) => url === this.jwksUri).length;
  }

  readonly fetch: SafeFetch = async (address) => {
    const url = String(address);
    this.fetched.push(url);
    if (url === this.jwksUri) {
      if (this.isDown) throw new SafeFetchError('connect_failed', `${url} cannot be reached.`);
      if (this.keysReply !== undefined) return await this.keysReply();
      return Response.json({
        keys: this.keys.map(({ kid, alg, publicJwk }) => ({ ...publicJwk, kid, alg, use: 'sig' })),
      });
    }
    if (url === this.metadataUrl) {
      if (this.isDown) throw new SafeFetchError('connect_failed', `${url} cannot be reached.`);
      return Response.json({ issuer: this.issuer, jwks_uri: this.jwksUri });
    }
    return new Response('not found', { status: 404 });
  };

  get runtime(): VerifierRuntime {
    return { safeFetch: () => this.fetch, loadDigest: async () => nodeDigest, sharesWork: true };
  }

  /** A token that is valid for an hour, and whose audience is `https://mcp.example/mcp`. */
  async sign(
    claims: JWTPayload = {},
    header: Record<string, unknown> = {},
    key = this.keys[0],
  ): Promise<string> {
    const { privateKey, alg, kid } = key as SigningKey;
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: this.issuer,
      aud: 'https://mcp.example/mcp',
      sub: 'ann',
      iat: now,
      exp: now + 3600,
      jti: crypto.randomUUID(),
      ...claims,
    };
    const present = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
    return await new SignJWT(present).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }
}

/** A key of RSA takes long to make, so an issuer that is made again gets the one that it had. */
function keyPair(name: string, alg: string): Promise<GenerateKeyPairResult> {
  const make = () => generateKeyPair(alg, { extractable: true });
  if (!/^[RP]S/.test(alg)) return make();
  const made = rsaKeys.get(`${name} ${alg}`) ?? make();
  rsaKeys.set(`${name} ${alg}`, made);
  return made;
}

const rsaKeys = new Map<string, Promise<GenerateKeyPairResult>>();

/** A request with a token. */
export function requestWith(token: string | undefined, more: Partial<RequestFacts> = {}): AuthRequest {
  const { scheme = 'Bearer', method = 'POST', url = 'https://mcp.example/mcp', headers = {} } = more;
  const all: Record<string, string> = {
    ...(token !== undefined && { authorization: `${scheme} ${token}` }),
    ...headers,
  };
  return { method, url, header: (name) => all[name], remoteAddress: '192.0.2.1' };
}

interface RequestFacts {
  readonly scheme: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** The parts of a server that a provider uses. */
export function authContext(
  more: { readonly store?: Store; readonly secrets?: readonly string[] } = {},
): AuthContext & { readonly logged: string[] } {
  const logged: string[] = [];
  return {
    shared: {
      server: 'test',
      store: more.store ?? memoryStore(),
      bus: () => undefined,
      eventLog: () => undefined,
    },
    secrets: more.secrets,
    log: (level, message) => void logged.push(`${level}: ${message}`),
    logged,
  };
}
