import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { canonical } from '../../../protocol/canonical.js';
import { McpError } from '../../../protocol/errors.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { cannotCheck } from '../credentials.js';
import { fetchKeys, findJwksUri, type KeySource } from './load-keys.js';

// The published keys of an issuer: cached, fetched again when they change, and not fetched too often.

/** Finds the key for a token: the type that jose takes. */
type FindKey = ReturnType<typeof createLocalJWKSet>;

/** The times of a key set, in milliseconds. */
export interface KeyTimes {
  /** The age at which keys are fetched again. */
  readonly maxAgeMs: number;
  /** The time between two fetches because of an unknown key, whether the first one worked or not. */
  readonly floorMs: number;
  /** The time between two fetches while they fail. */
  readonly retryMs: number;
  /** The age up to which keys are used while fetches fail. */
  readonly staleMs: number;
  /** The age at which the address of the key set is looked up again. */
  readonly addressMs: number;
}

export const keyTimes: KeyTimes = {
  maxAgeMs: 10 * 60_000,
  floorMs: 30_000,
  retryMs: 5_000,
  staleMs: 24 * 3_600_000,
  addressMs: 3_600_000,
};

export interface IssuerKeysParts extends KeySource {
  readonly sharesWork: boolean;
  /** Called when keys were removed: tokens that they verified are not valid any more. */
  readonly onRemoved: () => void;
  /** Tells the operator that the keys cannot be fetched, once for each outage. */
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly times?: KeyTimes | undefined;
  readonly now?: (() => number) | undefined;
}

interface Loaded {
  readonly find: FindKey;
  /** Each key as canonical JSON. */
  readonly prints: ReadonlySet<string>;
  readonly at: number;
}

/** The keys of one issuer. */
export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  readonly #times: KeyTimes;
  readonly #now: () => number;
  #closing = new AbortController();
  #loaded: Loaded | undefined;
  #address: { readonly url: string; readonly at: number } | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #flight: Promise<void> | undefined;

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
    this.#times = parts.times ?? keyTimes;
    this.#now = parts.now ?? Date.now;
  }

  /**
   * The key that signed a token. Throws an `McpError` if the keys cannot be fetched, and an error of jose if the issuer has no such
   * key, or several.
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const attemptedAt = this.#attemptedAt;
    const loaded = await this.#current();
    try {
      return await loaded.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The keys may have changed since; those of this very moment have not.
      const mayFetch = this.#attemptedAt === attemptedAt && this.#waitedFor(this.#floor());
      if (mayFetch || (this.#flight !== undefined && this.#parts.sharesWork)) await this.#fetch();
      // While the issuer cannot be asked, nobody knows whether it has the key.
      if (this.#failure !== undefined) throw this.#unavailable();
      return await (this.#loaded ?? loaded).find(header, token);
    }
  }

  /** Fetches the keys again, unless that was done a moment ago. Resolves with whether they have changed. */
  async refresh(): Promise<boolean> {
    const before = this.#loaded?.find;
    if (this.#waitedFor(this.#floor())) await this.#fetch();
    return this.#loaded?.find !== before;
  }

  /** Allows fetches again after `close`. */
  open(): void {
    if (this.#closing.signal.aborted) this.#closing = new AbortController();
  }

  /** Fetches the keys before the first token needs them. Failures are reported to the operator only. */
  async warmUp(): Promise<void> {
    await this.#current().catch(() => undefined);
  }

  close(): void {
    this.#closing.abort(new McpError('connection_closed', 'The server was closed.'));
  }

  async #current(): Promise<Loaded> {
    const age = this.#now() - (this.#loaded?.at ?? Number.NEGATIVE_INFINITY);
    const isFresh = age >= 0 && age < this.#times.maxAgeMs;
    if (this.#loaded !== undefined && isFresh) return this.#loaded;
    const isWaiting = this.#flight !== undefined && this.#parts.sharesWork;
    if (isWaiting || this.#failure === undefined || this.#waitedFor(this.#times.retryMs)) await this.#fetch();
    if (this.#loaded === undefined || this.#now() - this.#loaded.at > this.#times.staleMs)
      throw this.#unavailable();
    return this.#loaded;
  }

  #floor(): number {
    return this.#failure === undefined ? this.#times.floorMs : this.#times.retryMs;
  }

  #waitedFor(ms: number): boolean {
    const waited = this.#now() - this.#attemptedAt;
    // Less than nothing: the clock was set back.
    return waited >= ms || waited < 0;
  }

  /** Fetches the keys, or waits for the fetch that is under way. Never rejects. */
  #fetch(): Promise<void> {
    if (this.#flight !== undefined && this.#parts.sharesWork) return this.#flight;
    const flight = this.#load().finally(() => {
      if (this.#flight === flight) this.#flight = undefined;
    });
    this.#flight = flight;
    return flight;
  }

  async #load(): Promise<void> {
    this.#attemptedAt = this.#now();
    const { signal } = this.#closing;
    try {
      this.#store(await fetchKeys(await this.#findAddress(signal), this.#parts, signal));
      this.#failure = undefined;
    } catch (error) {
      // The address may have changed.
      this.#address = undefined;
      const isFirst = this.#failure === undefined;
      this.#failure = error ?? 'unknown';
      const { issuer, onTrouble } = this.#parts;
      const use =
        this.#loaded === undefined
          ? 'Its tokens cannot be checked.'
          : 'The last known keys are used for now.';
      if (isFirst && !signal.aborted)
        onTrouble(
          `The keys of the issuer ${displayUrl(issuer)} cannot be fetched. ${use} ${reasonOf(error)}`,
          error,
        );
    }
    // The floor counts from the end, so that a slow issuer is not asked without a pause.
    this.#attemptedAt = this.#now();
  }

  async #findAddress(signal: AbortSignal): Promise<string> {
    const now = this.#now();
    if (this.#address === undefined || now - this.#address.at > this.#times.addressMs)
      this.#address = { url: await findJwksUri(this.#parts, signal), at: now };
    return this.#address.url;
  }

  #store(set: JSONWebKeySet): void {
    const before = this.#loaded;
    if (set.keys.length === 0) {
      this.#loaded = undefined;
      if (before !== undefined) this.#parts.onRemoved();
      // The issuer has withdrawn its keys, or is in trouble: no token is valid, but nobody should have to log in anew.
      throw new Error('Its key set has no public key.');
    }
    const prints = new Set(set.keys.map((key) => canonical(key)));
    const isSame =
      before !== undefined &&
      before.prints.size === prints.size &&
      [...prints].every((one) => before.prints.has(one));
    // The imported keys belong to `find`, so an unchanged set keeps it.
    this.#loaded = { find: isSame ? before.find : createLocalJWKSet(set), prints, at: this.#now() };
    if (before !== undefined && [...before.prints].some((one) => !prints.has(one))) this.#parts.onRemoved();
  }

  #unavailable(): McpError {
    return cannotCheck(
      'The token cannot be checked now, because the keys of its issuer cannot be fetched. Retry later.',
      this.#failure,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
