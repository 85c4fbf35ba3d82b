import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';

// Digests of secrets, and comparisons that do not show how much of a secret was right.

const encoder = new TextEncoder();
const DIGEST_BYTES = 32;
const PREFIX = 'sha256:';

/** The SHA-256 digest of a string. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
}

/**
 * Whether two digests are equal. Takes the same time for every pair, so that nobody can find a digest byte by byte. The lengths of
 * digests are not secret.
 */
export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

/**
 * Makes the hash of an API key that `apiKey` takes, so that no program, file or database has to store the key itself. Keys must be
 * long and random, such as 32 random bytes: nobody can try all of those, so one round of SHA-256 is enough.
 *
 * @example
 * console.log(await hashApiKey('mcp_Zk1uT0wqk5k0Z3VtbW9yZQ')); // sha256:…
 */
export async function hashApiKey(key: string): Promise<string> {
  if (typeof key !== 'string' || key.length < MIN_KEY)
    throw new RangeError(
      `hashApiKey: a key must be a string of at least ${MIN_KEY} random characters. \`openssl rand -hex 32\` makes one.`,
    );
  return `${PREFIX}${encodeBase64Url(await sha256(key))}`;
}

/** The shortest key: 16 random characters are about 80 bits or more. */
const MIN_KEY = 16;

/** Reads a hash that `hashApiKey` has made; undefined if it is not one. */
export function readKeyHash(hash: unknown): Uint8Array | undefined {
  if (typeof hash !== 'string' || !hash.startsWith(PREFIX)) return undefined;
  const bytes = decodeBase64Url(hash.slice(PREFIX.length));
  return bytes?.byteLength === DIGEST_BYTES ? bytes : undefined;
}
