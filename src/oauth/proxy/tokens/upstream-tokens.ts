import { backoff, delay } from '../../../async/delay.js';
import type { UpstreamTokens } from '../upstream/provider.js';
import type { Upstream } from '../upstream/upstream.js';
import { UpstreamError } from '../upstream/upstream-error.js';
import type { LoginGrant } from './grant.js';
import type { Grants } from './grants.js';
import { OAuthError } from './oauth-error.js';
import { randomToken } from './random.js';
import type { Records } from './records.js';

/** The parts of `UpstreamTokenKeeper`. */
interface KeeperParts {
  readonly grants: Grants;
  readonly records: Records;
  readonly upstream: Upstream;
  /** The time after which a login has to be repeated that the provider cannot confirm, and others have to be confirmed. */
  readonly unverifiedMaxAgeMs: number;
}

/** A token that expires this soon is refreshed first. */
const MARGIN_MS = 60_000;
/** Longer than a request to the provider can take. */
const LOCK_MS = 30_000;
const WAIT_MS = 20_000;
const POLL_MS = 100;
/** Six attempts take up to 3 s. */
const MAX_SAVES = 6;

/** Keeps the tokens of the provider fresh. Of all processes, only one refreshes the tokens of a grant. */
export class UpstreamTokenKeeper {
  readonly #parts: KeeperParts;
  readonly #flights = new Map<string, Promise<LoginGrant>>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** The tokens of a grant, refreshed if they are about to expire. */
  async freshen(grant: LoginGrant): Promise<UpstreamTokens> {
    return isFresh(grant.upstream) ? grant.upstream : (await this.#refreshOnce(grant)).upstream;
  }

  /** Makes sure that the provider still stands by a login. Throws `invalid_grant` if it does not. */
  async verify(grant: LoginGrant): Promise<void> {
    const { upstream, unverifiedMaxAgeMs } = this.#parts;
    const { isValid } = upstream.provider;
    if (grant.upstream.refreshToken !== undefined)
      return this.#isConfirmed(grant) ? undefined : void (await this.#refreshOnce(grant));
    if (isValid === undefined) {
      if (Date.now() - grant.loggedInAt < unverifiedMaxAgeMs) return;
    } else if (await isValid(grant.upstream, await upstream.context())) return;
    await this.#end(grant);
  }

  /** One refresh at a time in this process. */
  #refreshOnce(grant: LoginGrant): Promise<LoginGrant> {
    const known = this.#flights.get(grant.id);
    if (known !== undefined) return known;
    const flight = this.#refreshAlone(grant).finally(() => this.#flights.delete(grant.id));
    this.#flights.set(grant.id, flight);
    return flight;
  }

  /** One refresh at a time among all processes. */
  async #refreshAlone(grant: LoginGrant): Promise<LoginGrant> {
    if (grant.upstream.refreshToken === undefined) return this.#end(grant);
    const { grants, records } = this.#parts;
    const until = performance.now() + WAIT_MS;
    for (let wait = POLL_MS; performance.now() < until; wait = Math.min(wait * 2, 1000)) {
      const owner = randomToken();
      const lock = await records.put('oauth-refreshing', grant.id, {
        value: { owner },
        if: 'absent',
        ttlMs: LOCK_MS,
      });
      if ((await records.write([lock])).ok) {
        try {
          return await this.#refreshNow(grant.id);
        } finally {
          await this.#unlock(grant.id, owner);
        }
      }
      await delay(wait * (0.5 + Math.random() / 2));
      const current = await grants.find(grant.id);
      if (current === undefined) throw ended();
      if (this.#isConfirmed(current)) return current;
    }
    throw new OAuthError(
      'temporarily_unavailable',
      'The tokens of the provider are being refreshed. Retry later.',
    );
  }

  async #refreshNow(id: string): Promise<LoginGrant> {
    const { grants, upstream } = this.#parts;
    // Another process may have been faster than the lock.
    const grant = await grants.find(id);
    if (grant === undefined) throw ended();
    if (this.#isConfirmed(grant)) return grant;
    try {
      const tokens = await upstream.refresh(grant.upstream);
      return (await this.#save(id, tokens)) ?? Promise.reject(ended());
    } catch (error) {
      if (error instanceof UpstreamError && error.isFinal) return this.#end(grant);
      throw error;
    }
  }

  /** The provider may accept a refresh token only once: the login would end if the new one were lost. */
  async #save(id: string, tokens: UpstreamTokens): Promise<LoginGrant | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#parts.grants.updateUpstream(id, tokens);
      } catch (error) {
        if (attempt >= MAX_SAVES || error instanceof RangeError) throw error;
        await delay(backoff(attempt, { baseMs: 50, maxMs: 1000 }));
      }
    }
  }

  async #unlock(id: string, owner: string): Promise<void> {
    const { records } = this.#parts;
    // The lock ends by itself, so that a failure here only delays the next refresh.
    try {
      const lock = await records.read('oauth-refreshing', id);
      if (lock?.value['owner'] === owner)
        await records.write([await records.remove('oauth-refreshing', id, lock.version)]);
    } catch {}
  }

  /** Whether the provider stood by a login not long ago. Nobody would ask it about tokens that do not expire otherwise. */
  #isConfirmed({ upstream, confirmedAt }: LoginGrant): boolean {
    return isFresh(upstream) && Date.now() - confirmedAt < this.#parts.unverifiedMaxAgeMs;
  }

  async #end(grant: LoginGrant): Promise<never> {
    await this.#parts.grants.revoke(grant);
    throw ended();
  }
}

function isFresh({ expiresAt }: UpstreamTokens): boolean {
  return expiresAt === undefined || expiresAt - MARGIN_MS > Date.now();
}

function ended(): OAuthError {
  return new OAuthError('invalid_grant', 'The login at the provider has ended: log in again.');
}
