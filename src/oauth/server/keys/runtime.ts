import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import { digestOf } from '../../../state/canonical.js';
import type { SafeFetchOptions } from '../../fetch/create-safe-fetch.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';

// The parts of a runtime that the check of tokens uses. The entry chooses them.

/** SHA-256 of a string, as base64url. */
export type Digest = (text: string) => string;

export interface VerifierRuntime {
  /** Makes the hardened fetch. */
  safeFetch(options: SafeFetchOptions): SafeFetch;
  /** Loads a digest that is synchronous. Absent where there is none. */
  loadDigest?(): Promise<Digest>;
  /** Whether requests may wait for the work of other requests. Workers forbid it. */
  readonly sharesWork: boolean;
}

/** Digests at once if the runtime can, and otherwise with Web Crypto. */
export class TokenDigest {
  #digest: Digest | undefined;

  /** Loads the synchronous digest, if there is one. */
  async load({ loadDigest }: VerifierRuntime): Promise<void> {
    this.#digest ??= await loadDigest?.();
  }

  of(text: string): string | Promise<string> {
    return this.#digest?.(text) ?? digestAsync(text);
  }
}

/** SHA-256 of a string, as base64url, with Web Crypto. */
async function digestAsync(text: string): Promise<string> {
  return encodeBase64Url(await digestOf(text));
}
