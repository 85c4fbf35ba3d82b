import { digestOf } from '../../protocol/canonical.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';

// Digests of secrets, and comparisons that do not show how much of a secret was right.

const DIGEST_BYTES = 32;
const PREFIX = 'sha256:';

/** SHA-256 of a string, as base64url. */
type Digest = (text: string) => string;

/** The part of a runtime that makes digests. */
export interface DigestRuntime {
  /** Loads a digest that is synchronous. Absent where there is none. */
  loadDigest?(): Promise<Digest>;
}

/** Digests at once if the runtime can, and otherwise with Web Crypto, which costs ten times as much. */
export class TokenDigest {
  #digest: Digest | undefined;

  /** Loads the synchronous digest, if there is one. */
  async load({ loadDigest }: DigestRuntime): Promise<void> {
    this.#digest ??= await loadDigest?.();
  }

  of(text: string): string | Promise<string> {
    return this.#digest?.(text) ?? digestAsync(text);
  }
}

async function digestAsync(text: string): Promise<string> {
  return encodeBase64Url(await digestOf(text));
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
    throw new TypeError(
      `hashApiKey: a key must be a string of at least ${MIN_KEY} random characters. \`openssl rand -hex 32\` makes one.`,
    );
  return `${PREFIX}${await new TokenDigest().of(key)}`;
}

/** The shortest key: 16 random characters are about 80 bits or more. */
const MIN_KEY = 16;

/** Reads the digest, as base64url, in a hash that `hashApiKey` has made; undefined if it is not one. */
export function readKeyHash(hash: unknown): string | undefined {
  if (typeof hash !== 'string' || !hash.startsWith(PREFIX)) return undefined;
  const bytes = decodeBase64Url(hash.slice(PREFIX.length));
  // Printed anew: the last character has bits that do not matter.
  return bytes?.byteLength === DIGEST_BYTES ? encodeBase64Url(bytes) : undefined;
}
