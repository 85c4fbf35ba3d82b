import * as oauth from 'oauth4webapi';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { decodeBase64 } from '../../../protocol/encoding/base64.js';
import { McpError } from '../../../protocol/errors.js';
import { basicCredentials } from '../../fetch/basic-credentials.js';

// How a client proves to a token endpoint who it is.

/** A way to authenticate at a token endpoint: `privateKeyJwt` makes one. */
export interface ClientAuthentication {
  /** The name of the method in the metadata of clients and servers. */
  readonly method: string;
  /** Adds the proof to a request. */
  readonly authenticate: oauth.ClientAuth;
}

/** The options of `privateKeyJwt`. */
export interface PrivateKeyJwtOptions {
  /** The private key: PEM (PKCS #8), a JWK, or a `CryptoKey`. */
  readonly privateKey: string | oauth.CryptoKey | Readonly<Record<string, unknown>>;
  /** The algorithm of a key in PEM, such as `ES256`, `RS256` or `EdDSA`. Default: `alg` of a JWK, otherwise `ES256`. */
  readonly algorithm?: string;
  /** The `kid` of the key, if the authorization server knows several. Default: `kid` of a JWK. */
  readonly keyId?: string;
  /** The audience of the assertion. Default: the issuer of the authorization server. */
  readonly audience?: string;
}

const keyTable = {
  privateKey: { is: ['string', 'object'], required: true },
  algorithm: 'string',
  keyId: 'string',
  audience: 'string',
} as const satisfies OptionTable<PrivateKeyJwtOptions>;

/** Authenticates a client with assertions that its private key signs (RFC 7523). */
export function privateKeyJwt(given: PrivateKeyJwtOptions): ClientAuthentication {
  const options = readOptions('privateKeyJwt', given, keyTable);
  const { audience } = options;
  let imported: Promise<oauth.PrivateKey> | undefined;
  return {
    method: 'private_key_jwt',
    async authenticate(as, client, body, headers) {
      imported ??= importKey(options);
      const sign = oauth.PrivateKeyJwt(await imported, {
        [oauth.modifyAssertion](_header, payload) {
          if (audience !== undefined) payload['aud'] = audience;
        },
      });
      await sign(as, client, body, headers);
    },
  };
}

/** The method of a client without a secret. */
export const noAuthentication: ClientAuthentication = { method: 'none', authenticate: oauth.None() };

/** A method with a shared secret, by its name; undefined for other names. */
export function secretAuthentication(method: string, secret: string): ClientAuthentication | undefined {
  switch (method) {
    case 'client_secret_basic':
      return { method, authenticate: basic(secret) };
    case 'client_secret_post':
      return { method, authenticate: oauth.ClientSecretPost(secret) };
    case 'client_secret_jwt':
      return { method, authenticate: oauth.ClientSecretJwt(secret) };
    default:
      return undefined;
  }
}

function basic(secret: string): oauth.ClientAuth {
  return function clientSecretBasic(_as, client, _body, headers) {
    headers.set('authorization', basicCredentials(client.client_id, secret));
  };
}

/** The parameters of WebCrypto for an algorithm of JOSE; undefined for algorithms that are not supported. */
export function importParameters(algorithm: string): KeyParameters | undefined {
  return Object.hasOwn(parameters, algorithm) ? parameters[algorithm] : undefined;
}

type KeyParameters = RsaHashedImportParams | EcKeyImportParams | { name: string };

const parameters: Readonly<Record<string, KeyParameters>> = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  RS384: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  RS512: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  PS384: { name: 'RSA-PSS', hash: 'SHA-384' },
  PS512: { name: 'RSA-PSS', hash: 'SHA-512' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
};

async function importKey(options: PrivateKeyJwtOptions): Promise<oauth.PrivateKey> {
  const { privateKey, keyId } = options;
  const jwk = typeof privateKey === 'string' || isCryptoKey(privateKey) ? undefined : privateKey;
  const kid = keyId ?? (typeof jwk?.['kid'] === 'string' ? jwk['kid'] : undefined);
  const named = (key: oauth.CryptoKey): oauth.PrivateKey => ({ key, ...(kid !== undefined && { kid }) });
  if (isCryptoKey(privateKey)) return named(privateKey);
  const algorithm = options.algorithm ?? (typeof jwk?.['alg'] === 'string' ? jwk['alg'] : 'ES256');
  const how = importParameters(algorithm);
  if (how === undefined) throw badKey(`The algorithm ${JSON.stringify(algorithm)} is not supported.`);
  try {
    const key =
      jwk === undefined
        ? await crypto.subtle.importKey('pkcs8', fromPem(privateKey as string), how, false, ['sign'])
        : await crypto.subtle.importKey('jwk', jwk as JsonWebKey, how, false, ['sign']);
    return named(key);
  } catch (error) {
    if (McpError.is(error)) throw error;
    throw badKey(`It cannot be read as a key for ${algorithm}.`);
  }
}

function isCryptoKey(key: PrivateKeyJwtOptions['privateKey']): key is oauth.CryptoKey {
  return typeof key === 'object' && Object.prototype.toString.call(key) === '[object CryptoKey]';
}

function fromPem(pem: string): Uint8Array<ArrayBuffer> {
  const [, base64 = ''] = /-----BEGIN PRIVATE KEY-----([\s\S]*?)-----END PRIVATE KEY-----/.exec(pem) ?? [];
  const bytes = decodeBase64(base64.replaceAll(/\s/g, ''));
  if (bytes === undefined || bytes.length === 0)
    throw badKey(
      'It is not PEM of the kind "BEGIN PRIVATE KEY" (PKCS #8). `openssl pkcs8 -topk8 -nocrypt` converts other kinds.',
    );
  return bytes;
}

function badKey(why: string): McpError {
  return new McpError('invalid_request', `privateKeyJwt: the private key cannot be used. ${why}`);
}
