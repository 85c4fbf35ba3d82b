import type { Auth } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { isSameDigest } from '../../protocol/encoding/same-digest.js';
import type { McpError } from '../../protocol/errors.js';
import type { AuthProvider, AuthRequest } from '../../state/auth-provider.js';
import type { ProviderOptions } from './bearer.js';
import { invalidToken, readToken, unknownToken } from './credentials.js';
import { type DigestRuntime, readKeyHash, TokenDigest } from './digests.js';

/** An API key, and the caller that has it. */
export interface ApiKey extends AuthInit {
  /** The hash of the key, which `hashApiKey` makes. The key itself is not stored anywhere. */
  readonly hash: string;
}

/** The options of `apiKey`. */
export interface ApiKeyOptions extends ProviderOptions {
  /** The keys that are accepted: at least 1, at most 10,000. A caller may have several, so that keys can be replaced. */
  readonly keys: readonly ApiKey[];
  /** The header that has the key, such as `x-api-key`. Default: `Authorization`, with the scheme `Bearer`. */
  readonly header?: string | undefined;
  /**
   * The beginning of every key, such as `mcp_`. Other providers of `anyOf` get the tokens that begin otherwise. Default: tokens that
   * look like a JWT are left to other providers.
   */
  readonly prefix?: string | undefined;
}

const MAX_KEYS = 10_000;
const MAX_KEY = 1024;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Makes `apiKey` for a runtime. */
export function makeApiKey(runtime: DigestRuntime): (options: ApiKeyOptions) => AuthProvider {
  return function apiKey(options) {
    const { optional, prefix } = readOptions('apiKey', options, optionTable, {
      key: '"keys" takes an array: [{ hash, subject }].',
    });
    const header = readHeaderName(options.header);
    const keys = readKeys(options.keys);
    const digest = new TokenDigest();

    function credentialsOf(request: AuthRequest): string | undefined {
      if (header !== undefined) return request.header(header);
      const token = readToken(request);
      if (token === undefined) return undefined;
      return (prefix === undefined ? looksLikeJwt(token) : !token.startsWith(prefix)) ? undefined : token;
    }

    function callerOf(keyDigest: string): Auth {
      const caller = find(keys, keyDigest);
      if (caller === undefined) throw invalidKey();
      return caller;
    }

    function invalidKey(): McpError {
      // Only a prefix, or a header of its own, tells that a key is none of another provider's tokens.
      const isOurs = header !== undefined || prefix !== undefined;
      return (isOurs ? invalidToken : unknownToken)('The API key is not valid.');
    }

    return {
      optional,
      schemes: [header === undefined ? 'Bearer' : 'ApiKey'],
      start: () => digest.load(runtime),
      check(request) {
        const key = credentialsOf(request);
        if (key === undefined) return undefined;
        if (key.length > MAX_KEY) throw invalidKey();
        const keyDigest = digest.of(key);
        return typeof keyDigest === 'string' ? callerOf(keyDigest) : keyDigest.then(callerOf);
      },
    };
  };
}

const optionTable = {
  keys: 'any',
  header: 'any',
  prefix: 'string',
  optional: { is: 'boolean', default: false },
} as const satisfies OptionTable<ApiKeyOptions>;

interface KnownKey {
  /** As base64url. */
  readonly digest: string;
  readonly auth: Auth;
}

// Every key is compared, so that the time does not show which one was right.
function find(keys: readonly KnownKey[], digest: string): Auth | undefined {
  let found: Auth | undefined;
  for (const known of keys) if (isSameDigest(known.digest, digest)) found = known.auth;
  return found;
}

function readKeys(keys: unknown): readonly KnownKey[] {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    throw new TypeError(`apiKey: "keys" must be an array of 1 to ${MAX_KEYS} keys: [{ hash, subject }].`);
  const seen = new Set<string>();
  return keys.map((key: ApiKey, index) => {
    const { hash, ...caller } = key ?? {};
    const digest = readKeyHash(hash);
    // The error never has the value: it may be a key that somebody has not hashed.
    if (digest === undefined)
      throw new TypeError(
        `apiKey: keys[${index}].hash must be a hash that hashApiKey(key) has made: \`await hashApiKey(key)\`. Keys themselves are not accepted.`,
      );
    if (seen.has(hash)) throw new TypeError(`apiKey: keys[${index}] has the hash of another key.`);
    seen.add(hash);
    const auth = toAuth(caller as AuthInit, `apiKey: keys[${index}]`);
    return { digest, auth: Object.freeze({ ...auth, scopes: Object.freeze([...auth.scopes]) }) };
  });
}

function readHeaderName(name: unknown): string | undefined {
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || !HEADER.test(name))
    throw new TypeError('apiKey: "header" must be the name of a header, such as "x-api-key".');
  const lower = name.toLowerCase();
  return lower === 'authorization' ? undefined : lower;
}

function looksLikeJwt(token: string): boolean {
  return token.startsWith('eyJ') && token.split('.', 6).length >= 3;
}
