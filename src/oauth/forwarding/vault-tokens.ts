import { ExpiringMap } from '../../async/expiring-map.js';
import { Flights } from '../../async/flight.js';
import { McpError } from '../../protocol/errors.js';
import type { ClientAuth } from '../../protocol/model/client-auth.js';
import type { AuthContext } from '../../state/auth-provider.js';
import type { UpstreamTokens } from '../proxy/upstream/provider.js';
import type { Upstream } from '../proxy/upstream/upstream.js';
import { UpstreamError } from '../proxy/upstream/upstream-error.js';

// The tokens of users in a vault, refreshed when they expire.

/** The user and the provider whose tokens are kept. */
export interface VaultKey {
  /** The caller: its issuer and its subject, as one string. */
  readonly principal: string;
  /** The issuer of the provider. */
  readonly upstream: string;
}

/** Keeps the tokens of users. Encrypt them, and let nobody else read them. */
export interface TokenVault {
  /** Returns the tokens of a user; undefined if there are none. */
  get(key: VaultKey): UpstreamTokens | undefined | null | Promise<UpstreamTokens | undefined | null>;
  /** Stores the tokens of a user, in place of older ones. */
  set(key: VaultKey, tokens: UpstreamTokens): void | Promise<void>;
  /** Deletes the tokens of a user. */
  delete(key: VaultKey): void | Promise<void>;
}

type TokenHeaders = Readonly<{ authorization: string }>;

/** The time before its end at which a token is refreshed. */
const EARLY_MS = 30_000;
const MAX_HEADERS = 10_000;
const HEADERS_MS = 3_600_000;
/** A server that refuses a token that was just refreshed would refuse the next one, too. */
const REFRESHED_MS = 5000;

/** Reads, refreshes and deletes the tokens of users. */
export class VaultTokens {
  readonly #vault: TokenVault;
  readonly #upstream: Upstream;
  readonly #log: AuthContext['log'];
  /** The last headers of each user: the same object for as long as the token is the same. */
  readonly #headers = new ExpiringMap<TokenHeaders>({
    maxEntries: MAX_HEADERS,
    now: () => performance.now(),
  });
  readonly #refreshed = new ExpiringMap<true>({ maxEntries: MAX_HEADERS, now: () => performance.now() });
  readonly #refreshing = new Flights<string, UpstreamTokens | undefined>();

  constructor(parts: {
    readonly vault: TokenVault;
    readonly upstream: Upstream;
    readonly log: AuthContext['log'];
  }) {
    this.#vault = parts.vault;
    this.#upstream = parts.upstream;
    this.#log = parts.log;
  }

  async save(principal: string, tokens: UpstreamTokens): Promise<void> {
    await this.#vault.set(this.#keyOf(principal), tokens);
  }

  /** The headers of a user; undefined if the user has to log in. */
  async headersFor(principal: string, signal: AbortSignal): Promise<TokenHeaders | undefined> {
    const stored = (await this.#vault.get(this.#keyOf(principal))) ?? undefined;
    if (stored === undefined) return undefined;
    const isFresh = stored.expiresAt === undefined || Date.now() < stored.expiresAt - EARLY_MS;
    const tokens = isFresh ? stored : await this.#refresh(principal, stored, signal);
    return tokens && this.#headersOf(principal, tokens);
  }

  /** Authorizes the requests of a user. */
  authOf(principal: string): ClientAuth {
    return {
      headersFor: async ({ signal }) => {
        const headers = await this.headersFor(principal, signal);
        if (headers !== undefined) return headers;
        throw new McpError('forbidden', 'The login at the server behind this one has ended. Call again.');
      },
      onChallenge: async ({ status }, { headers, signal }) => {
        const stored = (await this.#vault.get(this.#keyOf(principal))) ?? undefined;
        if (status !== 401 || stored === undefined) return 'fail';
        // Another call may have refreshed the token already.
        if (this.#headersOf(principal, stored).authorization !== headers['authorization']) return 'retry';
        if (this.#refreshed.get(principal)) return 'fail';
        return (await this.#refresh(principal, stored, signal)) === undefined ? 'fail' : 'retry';
      },
    };
  }

  #headersOf(principal: string, { accessToken }: UpstreamTokens): TokenHeaders {
    const authorization = `Bearer ${accessToken}`;
    const known = this.#headers.get(principal);
    if (known?.authorization === authorization) return known;
    const headers = { authorization };
    this.#headers.set(principal, headers, HEADERS_MS);
    return headers;
  }

  /** New tokens, once for all calls of a user at a time; undefined if the user has to log in again. */
  #refresh(
    principal: string,
    tokens: UpstreamTokens,
    signal: AbortSignal,
  ): Promise<UpstreamTokens | undefined> {
    const current = this.#refreshing.get(principal);
    if (current !== undefined) return current.join(signal);
    const flight = this.#refreshing.start(principal, () => this.#renew(principal, tokens));
    // It continues when nobody else waits: a refresh token may be valid only once.
    void flight.join().catch(() => undefined);
    return flight.join(signal);
  }

  async #renew(principal: string, tokens: UpstreamTokens): Promise<UpstreamTokens | undefined> {
    try {
      const fresh = await this.#upstream.refresh(tokens);
      await this.save(principal, fresh);
      this.#refreshed.set(principal, true, REFRESHED_MS);
      return fresh;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.isFinal) {
        // Another process may have been faster, and the refresh token is used up.
        const stored = (await this.#vault.get(this.#keyOf(principal))) ?? undefined;
        if (stored !== undefined && stored.accessToken !== tokens.accessToken) return stored;
        await this.#vault.delete(this.#keyOf(principal));
        return undefined;
      }
      this.#log('warning', `The tokens of a user could not be refreshed. ${error.message}`);
      throw new McpError(
        'overloaded',
        'The login cannot be refreshed now, because its provider does not answer. Retry later.',
      );
    }
  }

  #keyOf(principal: string): VaultKey {
    return { principal, upstream: this.#upstream.provider.issuer };
  }
}
