import type { FlattenedJWSInput, JWSHeaderParameters } from 'jose';
import { ExpiringMap } from '../../../async/expiring-map.js';
import { McpError } from '../../../protocol/errors.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { IssuerKeys, type KeyTimes, keyTimes } from '../../server/keys/issuer-keys.js';
import { OAuthError } from '../tokens/oauth-error.js';

const MAX_SETS = 1000;
const MAX_FETCHING = 20;
const MAX_BYTES = 64 * 1024;
const HOUR_MS = 60 * 60_000;
/** A client whose keys cannot be fetched keeps the last ones for an hour. */
const times: KeyTimes = { ...keyTimes, staleMs: HOUR_MS };

/**
 * The keys that clients publish at the `jwks_uri` of their documents. They are fetched only from public addresses and cached. An
 * unknown key makes them be fetched again, but not too often: anyone can write a document that names any address.
 */
export class ClientKeys {
  readonly #fetch: SafeFetch;
  readonly #sets: ExpiringMap<IssuerKeys>;
  readonly #now: (() => number) | undefined;
  #fetching = 0;

  constructor(fetch: SafeFetch, options: { readonly now?: () => number } = {}) {
    this.#fetch = fetch;
    this.#now = options.now;
    this.#sets = new ExpiringMap({ maxEntries: MAX_SETS, now: options.now });
  }

  /** Finds the key of an assertion, in the form that jose takes. Throws `temporarily_unavailable` if it cannot be asked for. */
  at(url: string): (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey> {
    const keys = this.#sets.get(url) ?? this.#open(url);
    // Each use keeps the set for another hour.
    this.#sets.set(url, keys, HOUR_MS);
    return async function findKey(header, token) {
      try {
        return await keys.find(header, token);
      } catch (error) {
        if (!McpError.is(error)) throw error;
        throw new OAuthError('temporarily_unavailable', 'The keys of the client cannot be fetched now.', {
          cause: error,
        });
      }
    };
  }

  #open(url: string): IssuerKeys {
    return new IssuerKeys({
      issuer: url,
      jwksUri: url,
      fetch: this.#limited,
      privateHosts: [],
      sharesWork: true,
      // Assertions are verified one by one: nothing that old keys have verified is kept.
      onRemoved: () => undefined,
      // The client is told. Its mistakes do not belong in the log of the operator.
      onTrouble: () => undefined,
      times,
      now: this.#now,
    });
  }

  readonly #limited: SafeFetch = async (url, init) => {
    if (this.#fetching >= MAX_FETCHING) throw new Error('Too many clients prove themselves at once.');
    this.#fetching++;
    try {
      return await this.#fetch(url, { ...init, loopback: 'refuse', redirect: 'error', maxBytes: MAX_BYTES });
    } finally {
      this.#fetching--;
    }
  };
}
