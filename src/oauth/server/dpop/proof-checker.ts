import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import type { AuthContext } from '../../../state/auth-provider.js';
import { SHARING_ADVICE } from '../../../state/cluster.js';
import type { Store } from '../../../state/store.js';
import { cannotCheck } from '../credentials.js';
import type { TokenDigest } from '../digests.js';
import { Nonces } from './nonces.js';
import { checkProof, PROOF_WINDOW_SECONDS, type ProofSubject, proofAlgorithms } from './proof.js';
import { invalidProof, nonceNeeded } from './proof-errors.js';
import { ProofKeys } from './proof-keys.js';

// A proof may be used once: the server remembers its name until the proof is too old anyway.

/** The clocks of the processes differ, and a process must not forget a proof that another one still accepts. */
const MARGIN_SECONDS = 60;
const DIGEST_LENGTH = 22;

export interface ProofCheckerOptions {
  readonly algorithms?: readonly string[] | undefined;
  /** Whether proofs need a nonce of this server. */
  readonly nonce?: boolean | undefined;
  readonly now?: (() => number) | undefined;
  readonly digest: TokenDigest;
}

/** Checks the proofs of requests, in all processes of a server. */
export class ProofChecker {
  readonly algorithms: readonly string[];
  readonly #now: () => number;
  readonly #keys: ProofKeys;
  readonly #digest: TokenDigest;
  readonly #needsNonce: boolean;
  #nonces: Nonces | undefined;
  /** Signs nonces if the server has no secret. */
  #ownSecret: string | undefined;
  #store: Store | undefined;

  constructor({ algorithms = proofAlgorithms, nonce = false, now = Date.now, digest }: ProofCheckerOptions) {
    this.#digest = digest;
    this.algorithms = algorithms;
    this.#now = now;
    this.#keys = new ProofKeys(now);
    this.#needsNonce = nonce;
  }

  start({ shared, secrets, log }: Pick<AuthContext, 'shared' | 'secrets' | 'log'>): void {
    this.#store = shared.store;
    if (!this.#needsNonce) return;
    if (!secrets?.length && this.#ownSecret === undefined) {
      log('warning', `The nonces for proofs are signed with a secret of this process. ${SHARING_ADVICE}`);
      this.#ownSecret = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    }
    this.#nonces = new Nonces(secrets?.length ? secrets : [this.#ownSecret ?? ''], this.#now);
  }

  /** Resolves if the request has a valid proof that was not used before. Otherwise throws a 401, or a 503 if that is unknown. */
  async check(subject: ProofSubject): Promise<void> {
    const { algorithms } = this;
    const { nonce, ...proof } = await checkProof(subject, { keys: this.#keys, algorithms, now: this.#now });
    if (this.#nonces !== undefined && !(await this.#nonces.accepts(nonce)))
      throw nonceNeeded(await this.#nonces.current(), algorithms);
    if (!(await this.#isFirstUse(subject.jkt, proof)))
      throw invalidProof('The proof was used before. Each request needs a new one.', algorithms);
  }

  // One list for each minute, because a store limits the number of its entries. A repeated proof has the same `iat` and key, so it
  // is in the same list. The first letter of the key divides the lists, so that one client cannot fill those of all others.
  async #isFirstUse(
    jkt: string,
    { jti, iat }: { readonly jti: string; readonly iat: number },
  ): Promise<boolean> {
    const minute = Math.floor(iat / 60);
    const endsAt = (minute + 1) * 60 + PROOF_WINDOW_SECONDS + MARGIN_SECONDS;
    const name = (await this.#digest.of(`${jkt} ${jti}`)).slice(0, DIGEST_LENGTH);
    try {
      if (this.#store === undefined) throw new Error('The provider was not started.');
      const { ok } = await this.#store.write([
        {
          do: 'append',
          list: `dpop:${jkt.charAt(0)}:${minute}`,
          name,
          value: {},
          ttlMs: Math.ceil(endsAt * 1000 - this.#now()),
        },
      ]);
      return ok;
    } catch (error) {
      throw cannotCheck(
        'The proof cannot be accepted now, because the server could not record that it is used. Retry later with a new proof.',
        error,
      );
    }
  }
}
