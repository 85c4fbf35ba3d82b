import { ExpiringMap } from '../../async/expiring-map.js';
import { type Flight, Flights } from '../../async/flight.js';
import { McpError } from '../../protocol/errors.js';
import type { AuthContext } from '../../state/auth-provider.js';
import { invalidToken } from '../server/credentials.js';
import { type ExchangeFailure, toExchangeFailure } from './exchange-failure.js';
import type { ExchangeRequest, IssuedToken } from './token-exchange.js';

// The exchanged tokens of all callers.

/** A caller's own token. */
export interface SubjectToken {
  /** Names the caller and the token, without containing the token. */
  readonly key: string;
  readonly token: string;
  /** When the token expires, in milliseconds since 1970; undefined if that is not known. */
  readonly expiresAt: number | undefined;
}

/** The headers with an exchanged token. */
export type ExchangedHeaders = Readonly<{ authorization: string }>;

interface Exchanged {
  readonly headers: ExchangedHeaders;
  readonly since: number;
}

export interface ExchangedTokensParts {
  readonly exchange: ExchangeRequest;
  readonly maxCallers: number;
  readonly log: AuthContext['log'];
}

/** The time before its end at which a token is not used any more; a tenth of the lifetime of a token that is valid for less. */
const EARLY_MS = 30_000;
/** The lifetime of a token about which the authorization server does not say it. */
const UNKNOWN_LIFETIME_MS = 60_000;
/** The caller may lose rights, which only another exchange shows. */
const MAX_KEEP_MS = 3_600_000;
/** A refused caller who calls again and again, and a server that refuses new tokens, must not ask the authorization server each time. */
const REFUSED_MS = 5000;
const MAX_REFUSED = 1000;
const MAX_EXCHANGES = 500;

/** Exchanges the tokens of callers, once for all calls of a caller at a time, and caches them until shortly before they expire. */
export class ExchangedTokens {
  readonly #parts: ExchangedTokensParts;
  readonly #exchanged: ExpiringMap<Exchanged>;
  readonly #refused: ExpiringMap<ExchangeFailure['error']>;
  readonly #flights = new Flights<string, Exchanged>();
  #hasTrouble = false;

  constructor(parts: ExchangedTokensParts) {
    this.#parts = parts;
    // A clock that nobody can set.
    const now = (): number => performance.now();
    this.#exchanged = new ExpiringMap({ maxEntries: parts.maxCallers, now });
    this.#refused = new ExpiringMap({ maxEntries: MAX_REFUSED, now });
  }

  /** The headers for a caller: the same object for as long as the token is the same. */
  async headersFor(subject: SubjectToken, signal: AbortSignal): Promise<ExchangedHeaders> {
    const { key, expiresAt = Number.POSITIVE_INFINITY } = subject;
    if (Date.now() >= expiresAt) throw invalidToken('The token has expired.');
    const known = this.#exchanged.get(key);
    if (known !== undefined) return known.headers;
    const refused = this.#refused.get(key);
    if (refused !== undefined) throw refused;
    const { headers } = await this.#flightOf(subject).join(signal);
    return headers;
  }

  /** Forgets headers that the server behind the proxy has refused. Returns whether it makes sense to ask for others. */
  forget({ key }: SubjectToken, headers: object): boolean {
    const known = this.#exchanged.get(key);
    // Another call may have got a new token already.
    if (known?.headers !== headers) return true;
    if (performance.now() - known.since < REFUSED_MS) return false;
    this.#exchanged.delete(key);
    return true;
  }

  #flightOf(subject: SubjectToken): Flight<Exchanged> {
    const { key } = subject;
    const current = this.#flights.get(key);
    if (current !== undefined) return current;
    if (this.#flights.size >= MAX_EXCHANGES)
      throw new McpError('overloaded', 'Too many tokens are being exchanged at this moment. Retry later.');
    return this.#flights.start(key, (signal) => this.#exchange(subject, signal));
  }

  async #exchange(subject: SubjectToken, signal: AbortSignal): Promise<Exchanged> {
    const { key, token } = subject;
    const since = performance.now();
    try {
      const issued = await this.#parts.exchange(token, signal);
      this.#hasTrouble = false;
      const exchanged = { headers: { authorization: `Bearer ${issued.token}` }, since };
      this.#exchanged.set(key, exchanged, keepMs(issued, subject) - (performance.now() - since));
      return exchanged;
    } catch (reason) {
      signal.throwIfAborted();
      const { error, isRefusal } = toExchangeFailure(reason);
      this.#report(reason, isRefusal);
      if (isRefusal) this.#refused.set(key, error, REFUSED_MS);
      throw error;
    }
  }

  /** Only the message: its secrets are concealed, and those of the causes need not be. */
  #report(reason: unknown, isRefusal: boolean): void {
    const why = McpError.is(reason) ? reason.message : 'An unexpected error occurred.';
    if (isRefusal) this.#parts.log('info', `The token of a caller was not exchanged. ${why}`);
    else if (!this.#hasTrouble) this.#parts.log('warning', `Tokens cannot be exchanged. ${why}`);
    this.#hasTrouble ||= !isRefusal;
  }
}

function keepMs({ lifetimeMs = UNKNOWN_LIFETIME_MS }: IssuedToken, { expiresAt }: SubjectToken): number {
  const left = expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt - Date.now();
  return Math.min(lifetimeMs - Math.min(EARLY_MS, lifetimeMs / 10), left, MAX_KEEP_MS);
}
