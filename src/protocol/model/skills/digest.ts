import { sha256 } from '../../encoding/sha256.js';

/** The digest of a file's bytes, as skills have it. Pages that were loaded without TLS have no Web Crypto. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  const hash =
    subtle === undefined
      ? sha256(bytes)
      : new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
