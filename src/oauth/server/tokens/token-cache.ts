import { ExpiringMap } from '../../../async/expiring-map.js';
import type { Auth } from '../../../protocol/call.js';

// The outcomes of checks, under the digests of the tokens. The tokens themselves are not kept.

const MAX_VERIFIED = 10_000;
const MAX_REJECTED = 1000;
const REJECTED_MS = 30_000;

/** The options of a `TokenCache`. */
export interface TokenCacheOptions {
  /** The time for which a valid token is remembered; never longer than it is valid. */
  readonly keepMs: number;
  /** The time for which a token that is not valid is remembered. Default: 30 s. */
  readonly rejectedMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** A token that is valid. */
export interface VerifiedToken {
  readonly auth: Auth;
  /** The thumbprint of the key that the token is bound to; undefined if anybody may use the token. */
  readonly jkt: string | undefined;
}

/** A token that is not valid. */
export interface RejectedToken {
  /** A sentence that says what is wrong with it. It does not contain the token. */
  readonly reason: string;
  /** Whether the token will be rejected for all time. */
  readonly isFinal: boolean;
  /** Whether the token may be another provider's. Default: it is this provider's. */
  readonly isForeign?: boolean | undefined;
}

export type TokenVerdict = VerifiedToken | RejectedToken;

/** Remembers the verdicts about tokens for a short time. */
export class TokenCache {
  readonly #verified: ExpiringMap<VerifiedToken>;
  readonly #rejected: ExpiringMap<RejectedToken>;
  readonly #keepMs: number;
  readonly #rejectedMs: number;
  readonly #now: () => number;
  /** Grows when verdicts become invalid, so that a check that began before is not remembered. */
  #generation = 0;

  constructor({ keepMs, rejectedMs = REJECTED_MS, now = Date.now }: TokenCacheOptions) {
    this.#keepMs = keepMs;
    this.#rejectedMs = rejectedMs;
    this.#now = now;
    this.#verified = new ExpiringMap({ maxEntries: MAX_VERIFIED, now });
    this.#rejected = new ExpiringMap({ maxEntries: MAX_REJECTED, now });
  }

  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#verified.size + this.#rejected.size;
  }

  get(digest: string): TokenVerdict | undefined {
    return this.#verified.get(digest) ?? this.#rejected.get(digest);
  }

  /** Remembers a verdict of a check that began in `generation`. */
  add(digest: string, verdict: TokenVerdict, generation: number): void {
    if (generation !== this.#generation) return;
    if ('auth' in verdict) {
      const left = (verdict.auth.expiresAt ?? Number.POSITIVE_INFINITY) - this.#now();
      this.#verified.set(digest, verdict, Math.min(this.#keepMs, left));
    } else if (verdict.isFinal) this.#rejected.set(digest, verdict, this.#rejectedMs);
  }

  /** Forgets one token. */
  delete(digest: string): void {
    this.#generation++;
    this.#verified.delete(digest);
  }

  /** Forgets the valid tokens: their keys are gone. */
  clear(): void {
    this.#generation++;
    this.#verified.clear();
  }
}
