import type { SafeFetchOptions } from '../../fetch/create-safe-fetch.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import type { DigestRuntime } from '../digests.js';

/** The parts of a runtime that the check of tokens uses. The entry chooses them. */
export interface VerifierRuntime extends DigestRuntime {
  /** Makes the hardened fetch. */
  safeFetch(options: SafeFetchOptions): SafeFetch;
  /** Whether requests may wait for the work of other requests. Workers forbid it. */
  readonly sharesWork: boolean;
}
