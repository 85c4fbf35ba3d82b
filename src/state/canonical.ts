// Canonical JSON and digests, to compare values.

export { canonical } from '../protocol/canonical.js';

/** Computes the SHA-256 digest of a string. */
export async function digestOf(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
