import { Flights } from '../../../async/flight.js';
import { withRetries } from '../../../async/with-retries.js';
import { Once } from '../../../state/once.js';
import type { Lease, Store } from '../../../state/store.js';
import type { UpstreamTokens } from '../upstream/provider.js';
import type { Upstream } from '../upstream/upstream.js';
import { UpstreamError } from '../upstream/upstream-error.js';
import type { LoginGrant } from './grant.js';
import type { Grants } from './grants.js';
import { OAuthError } from './oauth-error.js';
import type { Records } from './records.js';

/** The parts of `UpstreamTokenKeeper`. */
interface KeeperParts {
  readonly store: Store;
  readonly grants: Grants;
  readonly records: Records;
  readonly upstream: Upstream;
  /** The time after which a login has to be repeated that the provider cannot confirm, and others have to be confirmed. */
  readonly unverifiedMaxAgeMs: number;
}

/** A token that expires this soon is refreshed first. */
const MARGIN_MS = 60_000;
/** The lease is longer than a request to the provider can take. */
const REFRESHING = { queue: 'oauth-refreshing', leaseMs: 30_000, waitMs: 20_000 };
/** Seven attempts take up to 3 s. */
const SAVING = {
  baseMs: 50,
  maxMs: 1000,
  maxAttempts: 7,
  isFinal: (error: unknown) => error instanceof RangeError,
};

/** Keeps the tokens of the provider fresh. Of all processes, only one refreshes the tokens of a grant. */
export class UpstreamTokenKeeper {
  readonly #parts: KeeperParts;
  readonly #flights = new Flights<string, LoginGrant>();
  readonly #once: Once;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#once = new Once({ store: parts.store, ...REFRESHING });
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
    const flight =
      this.#flights.get(grant.id) ?? this.#flights.start(grant.id, () => this.#refreshAlone(grant));
    return flight.join();
  }

  /** One refresh at a time among all processes. */
  async #refreshAlone(grant: LoginGrant): Promise<LoginGrant> {
    if (grant.upstream.refreshToken === undefined) return this.#end(grant);
    let current = grant;
    const refreshed = await this.#once.run({
      key: await this.#parts.records.group(grant.id),
      find: async () => {
        current = await this.#find(grant.id);
        return this.#isConfirmed(current) ? current : undefined;
      },
      work: (lease) => this.#refreshNow(current, lease),
    });
    return refreshed ?? Promise.reject(busy());
  }

  async #refreshNow(grant: LoginGrant, lease: Lease): Promise<LoginGrant> {
    const { grants, upstream } = this.#parts;
    try {
      const tokens = await upstream.refresh(grant.upstream);
      return (await this.#save(grant, tokens)) ?? Promise.reject(ended());
    } catch (error) {
      if (!(error instanceof UpstreamError && error.isFinal)) throw error;
      if (await grants.revokeUnder(lease, grant)) throw ended();
      // Another process has the lease since, and perhaps new tokens: the provider refused only those that it has replaced.
      const current = await this.#find(grant.id);
      return this.#isConfirmed(current) ? current : Promise.reject(busy());
    }
  }

  /** The provider may accept a refresh token only once: the login would end if the new one were lost. */
  #save(grant: LoginGrant, tokens: UpstreamTokens): Promise<LoginGrant | undefined> {
    return withRetries(() => this.#parts.grants.updateUpstream(grant, tokens), SAVING);
  }

  async #find(id: string): Promise<LoginGrant> {
    return (await this.#parts.grants.find(id)) ?? Promise.reject(ended());
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

function busy(): OAuthError {
  return new OAuthError(
    'temporarily_unavailable',
    'The tokens of the provider are being refreshed. Retry later.',
  );
}
